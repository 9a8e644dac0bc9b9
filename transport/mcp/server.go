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

// API is the API behind the tools. *client.Client implements it.
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

// Config configures a tool server. The zero value is useful.
type Config struct {
	Version    string // that clients are told; empty: dev
	SmallAudio int    // audio of at most so many bytes is always in the result; 0: 64 KiB, negative: never
	MaxAudio   int    // the most bytes of audio in a result; 0: 4 MiB

	callwright.Runtime
}

// The bounds of results.
const (
	defaultSmall = 64 << 10
	defaultAudio = 4 << 20
	maxVoices    = 200 // of one list
)

// maxLine bounds a message of a client in bytes. The longest text has 5,000 characters, of at most 12 bytes when they are escaped.
const maxLine = 256 << 10

// finder returns the API on behalf of the client of a request.
type finder func(*sdk.RequestExtra) (API, error)

// tools are the tools of a server.
type tools struct {
	api   finder
	small int64
	most  int64

	schemas map[string]*jsonschema.Schema // of the arguments, by tool
}

// newServer makes a server of the tools.
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

// ServeStdio serves one client, whose messages are lines of in, until in ends or ctx does; both are no error. The answers are lines
// of out, to which nothing else may write. What was asked before the end of in is answered, within 3 minutes. A line that is no
// message is answered with an error of JSON-RPC. A message of more than 256 KiB ends the session with an error. While 16 requests
// are under way no further message is read. Reading in continues in the background when ctx ends, until in is closed.
func ServeStdio(ctx context.Context, api API, c Config, in io.Reader, out io.Writer) error {
	server, err := newServer(c, func(*sdk.RequestExtra) (API, error) { return api, nil })
	if err != nil {
		return err
	}
	answers := &output{out: out}
	lines := &sdk.IOTransport{Reader: newInput(in, answers), Writer: answers, MaxLineLength: -1} // input bounds lines
	err = server.Run(ctx, draining{lines, callLimit})
	if err != nil && ctx.Err() == nil && !errors.Is(err, io.EOF) {
		return callwright.Errorf(callwright.CodeBadRequest, "the session with the assistant ended: %w", err)
	}
	return nil
}

// tool returns a tool with the schemas of its types.
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

// header returns a header of the HTTP request that a message came with; empty without one.
func header(extra *sdk.RequestExtra, name string) string {
	if extra == nil || extra.Header == nil {
		return ""
	}
	return extra.Header.Get(name)
}
