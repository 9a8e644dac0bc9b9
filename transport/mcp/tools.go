package mcp

import (
	"context"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Annotations of tools. OpenWorldHint is false, because the tools affect only the voices and samples of one server.
var (
	no, yes  = new(bool), new(true)
	reads    = sdk.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, DestructiveHint: no, OpenWorldHint: no}
	adds     = sdk.ToolAnnotations{DestructiveHint: no, OpenWorldHint: no}
	changes  = sdk.ToolAnnotations{IdempotentHint: true, DestructiveHint: no, OpenWorldHint: no}
	destroys = sdk.ToolAnnotations{IdempotentHint: true, DestructiveHint: yes, OpenWorldHint: no}
)

// Limits of arguments, which equal the API's limits.
const (
	maxText  = 5000
	maxVoice = 128
	maxName  = 30
	maxID    = 64
	maxPage  = 100
	maxSkip  = 1_000_000
)

// add adds a tool to a server. The function call implements the tool. It receives the API for the client that uses the tool.
func add[In, Out any](
	t *tools, server *sdk.Server, name, title, description string, hints sdk.ToolAnnotations, change func(in, out schema),
	call func(context.Context, API, In) ([]sdk.Content, Out, error),
) error {
	made, err := tool[In, Out](name, title, description, hints, change)
	if err != nil {
		return err
	}
	if s, ok := made.InputSchema.(*jsonschema.Schema); ok {
		t.schemas[name] = s
	}
	sdk.AddTool(server, made, func(ctx context.Context, r *sdk.CallToolRequest, in In) (*sdk.CallToolResult, Out, error) {
		var none Out
		api, err := t.api(r.Extra)
		if err != nil {
			return nil, none, err
		}
		content, out, err := call(ctx, api, in)
		if err != nil {
			return nil, none, err
		}
		return &sdk.CallToolResult{Content: content}, out, nil
	})
	return nil
}

// addTo adds all tools to a server. Cloning a voice is possible only with the command line.
func (t *tools) addTo(server *sdk.Server) error {
	for _, register := range []func() error{
		func() error {
			return add(t, server, "tts_speak", "Speak a text",
				"Turns a text into speech and stores it as a sample. The result has the address of a WAV file and the voice that spoke. "+
					"The text is spoken as it is: markup is not interpreted.",
				adds, func(in, _ schema) {
					in.length("text", 1, maxText)
					in.length("voice", 1, maxVoice)
					in.length("language", 2, 35)
				}, t.speak)
		},
		func() error {
			return add(t, server, "tts_voices_list", "List voices",
				"Lists the voices that the organization can speak with: its own, then the public ones.",
				reads, func(_, out schema) { out.items("voices", maxVoices) }, t.listVoices)
		},
		func() error {
			return add(t, server, "tts_voice_get", "Get a voice", "Returns one voice by id or name.",
				reads, func(in, _ schema) { in.length("voice", 1, maxVoice) }, t.getVoice)
		},
		func() error {
			return add(t, server, "tts_voice_rename", "Rename a voice",
				"Renames a voice of the organization. Agents that name it by its old name have to be changed.",
				changes, func(in, _ schema) {
					in.length("voice_id", 1, maxVoice)
					in.length("name", 1, maxName)
				}, t.renameVoice)
		},
		func() error {
			return add(t, server, "tts_voice_delete", "Delete a voice",
				"Deletes a voice of the organization permanently. Its samples are kept. Ask the user before.",
				destroys, func(in, _ schema) { in.length("voice_id", 1, maxVoice) }, t.deleteVoice)
		},
		func() error {
			return add(t, server, "tts_samples_list", "List past speech",
				"Lists past speech outputs, newest first, with the address of their audio.",
				reads, func(in, out schema) {
					in.length("voice_id", 1, maxVoice)
					in.bounds("limit", 1, maxPage)
					in.bounds("offset", 0, maxSkip)
					out.items("samples", maxPage)
				}, t.listSamples)
		},
		func() error {
			return add(t, server, "tts_sample_get", "Get past speech", "Returns one past speech output with the address of its audio.",
				reads, func(in, _ schema) { in.length("sample_id", 1, maxID) }, t.getSample)
		},
	} {
		if err := register(); err != nil {
			return err
		}
	}
	return nil
}
