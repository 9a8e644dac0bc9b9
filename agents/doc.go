// Package agents keeps the rules of an agent: its settings with their defaults and limits, and how an update or a call
// changes them. It keeps web agents, which calls can name, and the agents that answer at inbound numbers.
//
// An Agent is checked against what this server has: voices, languages, pathways, and addresses that may be requested. Each
// is a small port of Config. Updates take a Patch and apply its settings one by one; a Report has the outcome of each.
//
// The sub-packages say how an agent thinks (llm, pathway, prompted), talks (dialogue, conversation), asks other systems
// (request, tool) and telephones (call).
package agents
