// Package agents implements the rules of an agent: its settings with their defaults and limits, and their changes by updates and
// calls. It manages web agents, which calls can name, and the agents that answer at inbound numbers.
//
// An Agent is checked against this server's voices, languages, pathways, and permitted addresses. Each is a small port of Config.
// Updates apply the settings of a Patch one by one; a Report contains the outcome of each.
//
// The sub-packages let an agent think (llm, pathway, prompted), talk (dialogue, conversation), call other systems (request, tool)
// and telephone (call).
package agents
