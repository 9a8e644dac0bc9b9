// Package callwright is the vocabulary that every part of the platform shares: organizations and their API keys,
// phone numbers, errors with stable codes, pages and cursors, time, ids, the unit of work and durable work.
//
// It imports nothing but the standard library. What the platform does lives in the domain packages beside it (sip,
// agents, porting, agenttest, speech, triage), each of which imports this one; adapters and transports import those.
package callwright
