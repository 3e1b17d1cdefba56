CREATE TABLE accounts (
    id      text PRIMARY KEY,
    balance integer NOT NULL
);

CREATE TABLE allowances (
    team      text PRIMARY KEY,
    remaining integer NOT NULL
);

CREATE TABLE entries (
    id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    account text NOT NULL,
    amount  integer NOT NULL,
    memo    text NOT NULL
);

CREATE TABLE features (
    name  text PRIMARY KEY,
    units integer NOT NULL
);
