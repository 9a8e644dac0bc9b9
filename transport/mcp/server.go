package mcp

import (
	"cmp"
	"context"
	"errors"
	"io"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/transport/client"
)

// API is the API that the tools call. *client.Client implements it.
type API interface {
	Speak(ctx context.Context, q client.SpeakRequest) (client.Speech, error)
	Download(ctx context.Context, w io.Writer, link string) (int64, error)

	ListVoices(ctx context.Context, f client.VoiceFilter) ([]client.Voice, error)
	GetVoice(ctx context.Context, idOrName string) (client.Voice, error)
	RenameVoice(ctx context.Context, idOrName, name string) (client.VoiceName, error)
	DeleteVoice(ctx context.Context, idOrName string) (message string, err error)

	ListSamples(ctx context.Context, f client.SampleFilter) (client.SampleList, error)
	SampleInfo(ctx context.Context, id string) (client.Sample, error)
	SampleAudio(ctx context.Context, w io.Writer, id string) (int64, error)
}

// Config configures a tool server. The zero value is valid.
type Config struct {
	Version    string // version that clients see; default "dev"
	SmallAudio int    // audio up to this size, in bytes, is always in the result; 0 means 64 KiB, negative never
	MaxAudio   int    // maximum audio in a result, in bytes; 0 means 4 MiB

	callwright.Runtime
}

// Limits of results.
const (
	defaultSmall = 64 << 10
	defaultAudio = 4 << 20
	maxVoices    = 200 // maximum voices in a list
)

// maxLine is the maximum length of a client's message, in bytes. The longest text has 5,000 characters of at most 12 bytes each when
// escaped.
const maxLine = 256 << 10

// finder returns the API to call for the client of a request.
type finder func(*sdk.RequestExtra) (API, error)

// tools implements the tools of a server.
type tools struct {
	api   finder
	small int64
	most  int64

	schemas map[string]*jsonschema.Schema // schemas of the arguments, by tool
}

// newServer returns an MCP server with all tools. The function api finds the API for each call.
func newServer(c Config, api finder) (*sdk.Server, error) {
	t := &tools{api: api, small: int64(cmp.Or(c.SmallAudio, defaultSmall)), most: int64(cmp.Or(c.MaxAudio, defaultAudio)), schemas: map[string]*jsonschema.Schema{}}
	if t.most < 0 {
		return nil, errors.New("mcp: Config.MaxAudio must not be negative")
	}
	t.small = min(t.small, t.most)
	server := sdk.NewServer(&sdk.Implementation{
		Name: "callwright", Title: "Callwright speech", Version: cmp.Or(c.Version, "dev"),
	}, &sdk.ServerOptions{
		Logger: c.WithDefaults().Logger, Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}},
		Instructions: "Speaks texts with the voices of a Callwright server and looks after its voices and its past speech. " +
			"tts_speak answers with the address of a WAV file, which works for a while without a key: give it to the user.",
	})
	if err := t.addTo(server); err != nil {
		return nil, err
	}
	server.AddReceivingMiddleware(explainErrors, t.checkArguments)
	return server, nil
}

// ServeStdio serves one client until the client's input ends or ctx ends, and then returns nil. The client's messages are lines of the
// reader in, and the answers are lines of the writer out. Nothing else may write to this writer. Requests before the end of the input are
// still answered, within 3 minutes. If ctx ends, reading continues in the background until the reader is closed.
//
// A line that is not a message is answered with an error of JSON-RPC. A message of more than 256 KiB ends the session with an error. While
// 16 requests are running, no further message is read.
func ServeStdio(ctx context.Context, api API, c Config, in io.Reader, out io.Writer) error {
	server, err := newServer(c, func(*sdk.RequestExtra) (API, error) { return api, nil })
	if err != nil {
		return err
	}
	answers := &output{out: out}
	lines := &sdk.IOTransport{Reader: newInput(in, answers), Writer: answers, MaxLineLength: -1} // input limits the lines
	err = server.Run(ctx, draining{lines, callLimit})
	if err != nil && ctx.Err() == nil && !errors.Is(err, io.EOF) {
		return callwright.Errorf(callwright.CodeBadRequest, "the session with the assistant ended: %w", err)
	}
	return nil
}

// tool returns a tool with the schemas of its argument and result types. The function change may restrict the schemas; it may be nil.
func tool[In, Out any](name, title, description string, hints sdk.ToolAnnotations, change func(in, out schema)) (*sdk.Tool, error) {
	in, err := schemaOf[In]()
	if err != nil {
		return nil, err
	}
	out, err := schemaOf[Out]()
	if err != nil {
		return nil, err
	}
	if change != nil {
		change(in, out)
	}
	hints.Title = title
	return &sdk.Tool{
		Name: name, Title: title, Description: description, Annotations: &hints, InputSchema: in.Schema, OutputSchema: out.Schema,
	}, nil
}

// header returns a header of the HTTP request of a message, or an empty text if there is none.
func header(extra *sdk.RequestExtra, name string) string {
	if extra == nil || extra.Header == nil {
		return ""
	}
	return extra.Header.Get(name)
}
