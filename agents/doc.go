// Package agents says who speaks: it keeps web agents, and the agents that answer at inbound numbers. Its sub-packages say
// how an agent thinks (llm, pathway, prompted), talks (dialogue, conversation), asks other systems (request, tool) and
// telephones (call).
package agents
