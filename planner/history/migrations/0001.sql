-- Sessions and the searches in them. {key}: the dialect's numbered primary key.
CREATE TABLE planner_sessions (
    id {key},
    name VARCHAR(200) NOT NULL UNIQUE,
    started_at VARCHAR(40) NOT NULL,
    query TEXT
);
CREATE TABLE planner_outcomes (
    id {key},
    session_id BIGINT NOT NULL REFERENCES planner_sessions (id),
    channel VARCHAR(200) NOT NULL,
    group_name VARCHAR(200) NOT NULL,
    results BIGINT NOT NULL,
    failure VARCHAR(80),
    searched SMALLINT NOT NULL,
    recorded_at VARCHAR(40) NOT NULL
);
CREATE INDEX planner_outcomes_by_session ON planner_outcomes (session_id);
