-- What is used often is looked up once.
local pack, read, sub, format, byte, find = struct.pack, struct.unpack, string.sub, string.format, string.byte, string.find
