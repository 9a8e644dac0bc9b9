// Package mcp is a tool server: it offers speech, voices and samples to assistants over the Model Context Protocol. ServeStdio
// serves one assistant over standard input and output, with the key of its client. NewHandler serves many over streamable HTTP,
// each with the key of its own requests, and keeps no sessions.
//
// There are seven tools: tts_speak, tts_voices_list, tts_voice_get, tts_voice_rename, tts_voice_delete, tts_samples_list and
// tts_sample_get. Voices are cloned with the command line only. Failures of the API and arguments that do not fit are results
// with isError, whose text is JSON with status, code, message and the body of the API's answer. Audio is a link; it is also in the result when
// include_audio asks for it, up to 4 MiB, and when it has at most 64 KiB. Over HTTP all results
// at once have a bound for audio, too.
package mcp
