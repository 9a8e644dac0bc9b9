// Package tts is the port for speech engines, which convert text to audio. An engine is a local program or a remote service.
//
// Calls and the speech service of package speech use the same engines. An engine has its own voices and is independent of organizations.
// Package speech adds the voices of organizations; its Service returns a Synthesizer for each organization.
//
// A Stream may be a Marker, which reports the place of each word in the audio, so that a call can pause, continue and cut an answer between
// words.
//
// speechtest.RunSynthesizer and speechtest.RunEngine test an engine.
package tts
