-- What is used often is looked up once.
local sub, format, byte, find = string.sub, string.format, string.byte, string.find
