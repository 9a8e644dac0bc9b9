// Package callwright holds the types and ports that every part of the platform shares: organizations and their API keys, phone
// numbers, secrets, errors with stable codes, pages and cursors, time and ids, transactions (Atomic), and durable work (Work).
//
// The package imports only the standard library. Two packages beside it serve all domains: node coordinates processes, with leases
// and heartbeats, and delivery sends messages to webhooks. The domain packages implement the platform: access, sip, agents,
// agenttest, porting, speech and triage. They import these three; adapters and transports import the domain packages. Package
// callwrighttest tests adapters of the ports of all three.
package callwright
