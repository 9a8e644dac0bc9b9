// Package callwright holds the types and ports that every part of the platform shares: organizations and their API keys, phone numbers,
// secrets, errors with stable codes, pages and cursors, time and ids, transactions (Atomic), and durable work (Work).
//
// The package imports only the standard library. Two further packages serve all domains: node coordinates processes, with leases and
// heartbeats, and delivery sends messages to webhooks. The domain packages access, sip, agents, agenttest, porting, speech and triage
// implement the platform. They import callwright, node and delivery; agents also imports speech, and agenttest and triage import agents.
// Adapters and transports import the domain packages. Package callwrighttest contains the conformance suites for adapters of these ports.
package callwright
