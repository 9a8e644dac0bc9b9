// Package agents implements the rules of an agent: its settings with their defaults and limits, and their changes by updates and calls. It
// manages web agents, which calls can name, and the agents that answer at inbound numbers.
//
// An Agent is checked against this server's voices, languages, pathways, and permitted addresses. A port of Config checks each of them.
// Updates apply the settings of a Patch one by one; a Report contains the outcome of each setting.
//
// The sub-packages implement an agent's thinking (llm, pathway, prompted), speech (dialogue, conversation), requests to other systems
// (request, tool) and calls (call).
package agents
