// Package agentstest helps to test agents. It contains conformance suites for the ports of the packages below agents, one Run function for
// each port, such as RunModel and RunPathwayStore. It also contains fakes that a test scripts: Line and Phone for the telephone,
// Synthesizer and Recognizer for speech engines, Model, Requests, Knowledge and Gate for the ports of pathways. Collect reads a model's
// reply to its end.
//
// The fakes share one Voice, which encodes text in audio exactly. The Recognizer understands a Phone's speech, and Phone.Heard returns the
// Synthesizer's text, cut where the playout ended.
package agentstest
