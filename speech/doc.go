// Package speech turns text into speech for organizations: with the engine's voices, and with voices that the organizations have
// made of recordings. All speech is stored as samples. A signed link gives access to a sample's audio for a limited time.
//
// A Service cuts a text into sentences, has an engine of package tts speak them one after the other, brings them to one loudness,
// and writes them to a WAV file in Blobs. A text is not synthesized again with the same voice, engine and format. Calls speak
// through the same Service: Speaker returns the tts.Synthesizer of an organization.
//
// # Voices
//
// A voice is found by its id or by its name, without regard to case: an organization's own voices come before the engine's.
// A Cloner makes own voices of recordings. The local one, in package profile, cannot copy a speaker: it measures the pitch
// and the tempo of the recordings and has the engine's nearest voice speak with them. Such a voice has the kind "profile".
//
// # Bounds
//
// Config bounds the texts that are synthesized concurrently and the texts that wait; more are CodeTooManyRequests. The constants of
// this package bound texts, names, recordings and stored data.
package speech
