-- Writing and removing as functions, for what happens seldom. To make them takes as long as to write a row.
local function put(field, row, over)
  written[k + 1], written[k + 2], k = field, row, k + 2
  if over > latest then latest = over end
end

local function remove(field)
  gone, n_gone = gone or { 'HDEL', calls, nil, nil, nil }, n_gone + 1
  gone[n_gone] = field
end
