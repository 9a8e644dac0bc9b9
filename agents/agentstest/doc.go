// Package agentstest helps to test agents. It has conformance suites for the ports of the packages below agents, one Run
// function each, such as RunModel and RunPathwayStore. It also has stand-ins whose behaviour a test scripts: Line and Phone
// for the telephone, Synthesizer and Recognizer for speech engines, Model, Requests, Knowledge and Gate for what pathways
// use. Collect and Speak read a reply and a speech to their ends.
//
// The stand-ins share one Voice, which carries text in audio to the letter: the Recognizer understands what a Phone says,
// and Phone.Heard reads back what the Synthesizer speaks, cut where the playout was cut.
package agentstest
