-- Experience: what way of asking an outcome speaks for or against, and what the user or the rubric said.
ALTER TABLE planner_outcomes ADD COLUMN pattern VARCHAR(300);
ALTER TABLE planner_outcomes ADD COLUMN feedback VARCHAR(20);
CREATE INDEX planner_outcomes_by_channel ON planner_outcomes (channel, id);
