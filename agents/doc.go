// Package agents says who speaks: what the agent at an inbound number is, and, in its sub-packages, how an agent thinks
// (llm, prompted), talks (conversation) and telephones (call).
package agents
