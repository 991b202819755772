-- Run by Neovim without a window: opens files, attaches the server as docs/editors.md says, and prints what an editor shows.
-- Arguments come as globals: RECIPE (the documented init.lua), FOLDER, BIN.
vim.env.PATH = BIN .. ":" .. vim.env.PATH
vim.cmd("cd " .. FOLDER)
vim.o.hidden = true
vim.o.swapfile = false
local function say(name, value) io.stdout:write(name .. " " .. vim.json.encode(value) .. "\n") end
local function fail(text)
  say("failed", text)
  vim.cmd("cquit 3")
end
local function wait(what, holds)
  if not vim.wait(20000, holds, 20) then fail("waited in vain for " .. what) end
end
dofile(RECIPE)

local function open(file)
  vim.cmd("edit " .. file)
  local buffer = vim.api.nvim_get_current_buf()
  wait("a client of " .. file, function()
    for _, client in pairs(vim.lsp.buf_get_clients(buffer)) do
      if client.name == "quorumlint" and client.initialized then return true end
    end
  end)
  return buffer
end
local function shown(buffer)
  local out = {}
  for _, d in ipairs(vim.diagnostic.get(buffer)) do
    out[#out + 1] = { code = d.code, lnum = d.lnum + 1, col = d.col + 1, severity = d.severity, message = d.message }
  end
  return out
end
local function replace(buffer, from, to)
  local lines = vim.api.nvim_buf_get_lines(buffer, 0, -1, false)
  for i, line in ipairs(lines) do
    local a, b = line:find(from, 1, true)
    if a then
      vim.api.nvim_buf_set_text(buffer, i - 1, a - 1, i - 1, b, { to })
      return i, a
    end
  end
  fail("no " .. from)
end
local function request(buffer, method, params)
  local answers = vim.lsp.buf_request_sync(buffer, method, params, 10000)
  for _, answer in pairs(answers or {}) do
    if answer.err then fail(answer.err.message) end
    return answer.result
  end
end

local manifest = open("infra/redis-lab/k3s/redis-data.yaml")
local acl = open("infra/redis-lab/config/redis-users.acl.tmpl")
local conf = open("infra/redis-lab/config/redis.conf.tmpl")

-- an edit of the ACL shows in the manifest, and goes away with it; nothing is saved
replace(acl, "user probe ", "user prober ")
wait("the finding in the manifest", function() return #shown(manifest) == 3 end)
say("manifest", shown(manifest))
replace(acl, "user prober ", "user probe ")
wait("a clean manifest", function() return #shown(manifest) == 0 end)
say("clean", shown(manifest))

-- a code action, applied as the editor applies it
local line = replace(conf, "appendfsync everysec", "appendfsync everysec # log")
wait("the finding in the configuration", function() return #shown(conf) == 1 end)
say("conf", shown(conf))
local range = { start = { line = line - 1, character = 21 }, ["end"] = { line = line - 1, character = 22 } }
local document = { uri = vim.uri_from_bufnr(conf) }
local actions = request(conf, "textDocument/codeAction", { textDocument = document, range = range, context = { diagnostics = {} } })
for _, action in ipairs(actions) do
  if action.isPreferred then
    say("action", action.title)
    vim.lsp.util.apply_workspace_edit(action.edit, "utf-16")
  end
end
wait("a clean configuration", function() return #shown(conf) == 0 end)
say("repaired", vim.api.nvim_buf_get_lines(conf, line - 1, line, false)[1])

-- hover, as the editor formats it
local words = vim.api.nvim_buf_get_lines(acl, 1, 2, false)[1]
local column = words:find("+get", 1, true)
local hover = request(acl, "textDocument/hover", {
  textDocument = { uri = vim.uri_from_bufnr(acl) },
  position = { line = 1, character = column },
})
say("hover", table.concat(vim.lsp.util.convert_input_to_markdown_lines(hover.contents), "\n"))
say("modified", vim.bo[acl].modified)
vim.lsp.stop_client(vim.lsp.get_active_clients())
wait("the end of the server", function() return #vim.lsp.get_active_clients() == 0 end)
vim.cmd("qall!")
