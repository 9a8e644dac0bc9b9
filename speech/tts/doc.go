// Package tts is the port of speech engines, which turn text into audio: programs of this machine, or services.
//
// Calls and the speech service of package speech speak through the same engines. An engine knows its own voices and no
// organization; the voices of organizations are the rule of package speech, whose Service is a Synthesizer, too.
//
// speechtest.RunSynthesizer and speechtest.RunEngine test an engine.
package tts
