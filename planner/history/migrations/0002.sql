-- What each session got from each group it really searched, so that counting empty sessions reads an index only.
CREATE TABLE planner_yields (
    group_name VARCHAR(200) NOT NULL,
    session_id BIGINT NOT NULL REFERENCES planner_sessions (id),
    results BIGINT NOT NULL,
    last_outcome BIGINT NOT NULL,
    PRIMARY KEY (group_name, session_id)
);
INSERT INTO planner_yields (group_name, session_id, results, last_outcome)
SELECT group_name, session_id, CAST(SUM(results) AS BIGINT), MAX(id)
FROM planner_outcomes WHERE searched = 1 GROUP BY group_name, session_id;
CREATE INDEX planner_yields_empty ON planner_yields (group_name, last_outcome) WHERE results = 0;
CREATE INDEX planner_yields_found ON planner_yields (group_name, last_outcome) WHERE results > 0;
