// Package mcp is a tool server: it offers speech, voices and samples to assistants over the Model Context Protocol. ServeStdio serves one
// assistant over standard input and output, with the API that it is given and that API's key. NewHandler serves many assistants over
// streamable HTTP. Each request carries its own key, and there are no sessions.
//
// There are seven tools: tts_speak, tts_voices_list, tts_voice_get, tts_voice_rename, tts_voice_delete, tts_samples_list and
// tts_sample_get. Cloning a voice is possible only with the command line. Failures of the API and invalid arguments are results with
// isError, whose text is JSON with status, code, message and the body of the API's answer.
//
// A result contains a link to the audio. It also contains the audio itself if include_audio requests it, up to 4 MiB, or if the audio has
// at most 64 KiB. Over HTTP, the audio of all concurrent results is limited too.
package mcp
