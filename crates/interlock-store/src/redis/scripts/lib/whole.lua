-- Whole numbers of 64 bits. A Lua number is a double and exact up to 2^53 only, so each is a pair of high × 10^9 + low with
-- 0 <= low < 10^9, which makes comparing them a matter of the high part first.
local BASE = 1000000000

local function normal(high, low)
  local carry = math.floor(low / BASE)
  return { high + carry, low - carry * BASE }
end

-- From decimal digits, with or without a minus.
local function whole(digits)
  local negative = string.sub(digits, 1, 1) == '-'
  if negative then digits = string.sub(digits, 2) end
  local high = tonumber(string.sub(digits, 1, -10)) or 0
  local low = tonumber(string.sub(digits, -9))
  if negative then high, low = -high, -low end
  return normal(high, low)
end

-- Back to decimal digits.
local function digits_of(number)
  local high, low, sign = number[1], number[2], ''
  if high < 0 then
    -- Not -low, which for 0 is the double -0 and prints its sign.
    high, low, sign = -high, 0 - low, '-'
    if low < 0 then high, low = high - 1, low + BASE end
  end
  if high == 0 then return sign .. string.format('%.0f', low) end
  return sign .. string.format('%.0f%09.0f', high, low)
end

local function plus(a, b) return normal(a[1] + b[1], a[2] + b[2]) end
local function minus(a, b) return normal(a[1] - b[1], a[2] - b[2]) end
local function less(a, b) return a[1] < b[1] or (a[1] == b[1] and a[2] < b[2]) end
-- The nearest double, for what need not be exact.
local function about(number) return number[1] * BASE + number[2] end
