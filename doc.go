// Package callwright holds the types and ports that every part of the platform shares: organizations and their API keys, phone
// numbers, secrets, errors with stable codes, pages and cursors, time and ids, transactions (Atomic), durable work (Work), and
// leases that assign work to nodes (Leases, Heartbeat).
//
// The package imports only the standard library. The domain packages beside it (sip, agents, speech, triage) implement the
// platform. They import this package; adapters and transports import the domain packages. Package callwrighttest tests adapters of
// the ports that are declared here.
package callwright
