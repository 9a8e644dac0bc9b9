// Package tts is the port of speech engines, which turn text into audio: programs of this machine, or services.
//
// Calls and the speech service of package speech speak through the same engines. An engine has its own voices and is independent of
// organizations; package speech adds the voices of organizations, whose Service is a Synthesizer, too.
//
// speechtest.RunSynthesizer and speechtest.RunEngine test an engine.
package tts
