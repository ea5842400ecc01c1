-- What a program of some size does with memory: strings, tables that grow,
-- closures, sorting, patterns, errors caught in C, coroutines. Deterministic;
-- prints what it found.
local words, sum = {}, 0
for i = 1, 2000 do
	words[#words + 1] = ("word%d"):format(i * 7919 % 1009)
end
table.sort(words, function(a, b) return a < b end)
local text = table.concat(words, " ")
local count = {}
for word in text:gmatch("%a+%d") do
	count[word] = (count[word] or 0) + 1
end
local function tree(depth)
	if depth == 0 then return { leaf = tostring(depth) } end
	return { tree(depth - 1), tree(depth - 1) }
end
local function depth_of(node)
	return node.leaf and 1 or 1 + depth_of(node[1])
end
local makers = {}
for i = 1, 300 do
	makers[i] = function() return ("x"):rep(i) end
end
for _, make in ipairs(makers) do sum = sum + #make() end
local caught = 0
for i = 1, 200 do
	local ok = pcall(function() error({ "number " .. i }) end)
	caught = caught + (ok and 0 or 1)
end
local steps = coroutine.wrap(function()
	for i = 1, 200 do coroutine.yield({ i }) end
end)
for i = 1, 200 do sum = sum + steps()[1] end
print(#text, count.word1, depth_of(tree(10)), sum, caught,
	(text:gsub("word", "")):sub(1, 20))
