-- A small program similar to the scripts of a game: objects of classes, messages as strings,
-- tables that grow and shrink, and delayed closures. Returns a checksum.
local SEED = 12345
local function random(most)
    SEED = (SEED * 1103515245 + 12345) % 2147483648
    return SEED // 65536 % most + 1
end

local Entity = {}
Entity.__index = Entity
function Entity.new(kind, x, y)
    return setmetatable({kind = kind, x = x, y = y, health = 100, tags = {}}, Entity)
end
function Entity:move(dx, dy)
    self.x, self.y = self.x + dx, self.y + dy
    return self
end

local Player = setmetatable({}, {__index = Entity})
Player.__index = Player
function Player.new(name)
    local self = Entity.new("player", 0, 0)
    self.name, self.inventory = name, {}
    return setmetatable(self, Player)
end

local world, log, waiting = {}, {}, {}
local kinds = {"orc", "elf", "dwarf", "dragon", "chest", "torch"}
local player = Player.new("Granny")

local function spawn(count)
    for _ = 1, count do
        local entity = Entity.new(kinds[random(#kinds)], random(640), random(480))
        for tag = 1, random(4) - 1 do
            entity.tags[tag] = "tag" .. random(200)
        end
        world[#world + 1] = entity
    end
end

local function say(format, ...)
    local line = string.format(format, ...)
    log[#log + 1] = line
    if #log > 60 then
        log = {table.unpack(log, 31)}
    end
    return line
end

-- Delayed events: each holds a reference to its object.
local function later(turns, entity)
    waiting[#waiting + 1] = {turns = turns, action = function()
        entity.health = entity.health - random(60)
        say("%s at %d,%d has %d left", entity.kind, entity.x, entity.y, entity.health)
    end}
end

local function words(text)
    local found = {}
    for word in text:gmatch("%w+") do
        found[#found + 1] = word:upper():lower()
    end
    return found
end

local walker = coroutine.wrap(function()
    while true do
        for i = 1, #world do
            local entity = world[i]
            if entity and i % 7 == 0 then
                coroutine.yield(entity:move(random(3) - 2, random(3) - 2))
            end
        end
        coroutine.yield(player)
    end
end)

local sum = 0
for turn = 1, TURNS do
    spawn(random(12))
    for _ = 1, 4 do
        local entity = walker()
        if entity ~= player then later(random(9), entity) end
    end
    local still = {}
    for _, event in ipairs(waiting) do
        event.turns = event.turns - 1
        if event.turns == 0 then event.action() else still[#still + 1] = event end
    end
    waiting = still
    local alive = {}
    for _, entity in ipairs(world) do
        if entity.health > 0 and random(40) > 1 then alive[#alive + 1] = entity end
    end
    world = alive
    local line = say("turn %d: %d in the world, %d waiting", turn, #world, #waiting)
    player.inventory[turn % 50] = words(line .. " " .. (log[random(#log)] or ""))
    local parts = {}
    for i = 1, random(20) do parts[i] = tostring(random(1000)) end
    sum = (sum * 31 + #table.concat(parts, ", ") + #world * 7 + #log) % 1000000007
    if turn % 100 == 0 then world = {table.unpack(world, 1, #world // 4)} end
end
return sum
