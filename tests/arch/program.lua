-- A fixed amount of work for a real program: tables, strings, closures and
-- coroutines. What it prints depends on nothing but this.
local words, lengths = {}, {}

for i = 1, 3000 do
	words[i] = string.format("%x", i * 7919) .. string.rep("-", i % 17)
end
table.sort(words)
for _, word in ipairs(words) do
	lengths[#word] = (lengths[#word] or 0) + 1
end

local function numbers(n)
	return coroutine.wrap(function()
		for i = 1, n do
			coroutine.yield(i)
		end
	end)
end

local sum, tree = 0, nil
for i in numbers(500) do
	sum = sum + i
	tree = { left = tree, right = function() return sum + i end }
end
while tree do
	sum = sum + #tostring(tree.right())
	tree = tree.left
end
print(sum, #table.concat(words, ","), lengths[5], lengths[20])
