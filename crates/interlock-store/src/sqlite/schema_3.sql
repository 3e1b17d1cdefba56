-- Version 3. What tells an operation from another that comes under the same id; null for what was remembered before.
ALTER TABLE op ADD COLUMN fingerprint BLOB;
