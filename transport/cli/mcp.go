package cli

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"runtime/debug"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/transport/client"
	"github.com/callwright/callwright/transport/mcp"
)

// toolPath is the HTTP path of the tool server.
const toolPath = "/mcp"

// toolServer implements the command callwright mcp.
type toolServer struct {
	config Config
	env    func(string) string

	addr, voice    string
	serverVoice    bool
	hosts, origins []string
}

func mcpCommand(c Config, env func(string) string) *cobra.Command {
	s := &toolServer{config: c, env: env}
	cmd := &cobra.Command{
		Use: "mcp", Short: "Give assistants the tools of speech (Model Context Protocol)",
		Long: "Serves seven tools for speech, voices and samples to an assistant, over standard input and output, until its input ends.\n" +
			"Assistants start the command themselves: see docs/toolkit.md for their configuration.\n\n" +
			"With --addr it serves streamable HTTP on this machine at " + toolPath + ". It has no key then: each assistant sends its own in the\n" +
			"header Authorization. Behind a proxy, --host names what the proxy is called.",
		Example: "  callwright mcp --server data/server.json\n" +
			"  callwright mcp --addr 127.0.0.1:8090\n" +
			"  callwright mcp --addr 127.0.0.1:8090 --host tools.example.com --origin https://assistant.example.com",
		Args: exactly(0, "no arguments"), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: s.run,
	}
	flags := cmd.Flags()
	flags.StringVar(&s.addr, "addr", "", "serve streamable HTTP on an `address` of this machine, such as 127.0.0.1:8090")
	flags.StringSliceVar(&s.hosts, "host", nil, "a `name` under which --addr may be reached, beside no other; without it those of this machine")
	flags.StringSliceVar(&s.origins, "origin", nil, "a `site` whose pages may call --addr, such as https://assistant.example.com")
	flags.StringVar(&s.voice, "voice", "", "the `name` or the id of the voice that speaks when the assistant names none, or "+voiceVariable)
	flags.BoolVar(&s.serverVoice, "server-voice", false, "let the server choose the voice then")
	cmd.MarkFlagsMutuallyExclusive("voice", "server-voice")
	mustComplete(cmd, "voice", completeVoices(c, env))
	for _, name := range []string{"addr", "host", "origin"} {
		mustComplete(cmd, name, cobra.NoFileCompletions)
	}
	return cmd
}

func (s *toolServer) run(cmd *cobra.Command, _ []string) error {
	tools := mcp.Config{Version: version()}
	if s.addr != "" {
		return s.serve(cmd, tools)
	}
	if len(s.hosts)+len(s.origins) > 0 {
		return usage(errors.New("--host and --origin require --addr"))
	}
	a, err := openClient(s.config, cmd, s.env, s.choice())
	if err != nil {
		return err
	}
	defer func() { _ = a.Close() }()
	if s.config.isTerminal(cmd.InOrStdin()) {
		notice(cmd, "waiting for the messages of an assistant: end the input to leave")
	}
	return mcp.ServeStdio(cmd.Context(), a.Client, tools, cmd.InOrStdin(), cmd.OutOrStdout())
}

// choice returns the VoiceChoice for requests in which an assistant names no voice.
func (s *toolServer) choice() client.VoiceChoice {
	if s.voice != "" {
		return client.PinnedVoice(s.voice)
	}
	return (&speaker{env: s.env, serverVoice: s.serverVoice}).choice()
}

// serve serves the tools over streamable HTTP until the command's context ends. It prints the URL first.
func (s *toolServer) serve(cmd *cobra.Command, tools mcp.Config) error {
	if err := onThisMachine(s.addr); err != nil {
		return usage(err)
	}
	h, end, err := s.handler(cmd, tools)
	if err != nil {
		return err
	}
	defer end()
	l, err := new(net.ListenConfig).Listen(cmd.Context(), "tcp", s.addr)
	if err != nil {
		return refused(fmt.Errorf("--addr: %w", err))
	}
	at := struct {
		URL string `json:"url"`
	}{"http://" + l.Addr().String() + toolPath}
	if err := show(cmd, at, func(w *tabwriter.Writer) { printf(w, "Tools\t%s\n", at.URL) }); err != nil {
		return errors.Join(err, l.Close())
	}
	return mcp.Serve(cmd.Context(), l, h)
}

// handler returns the HTTP handler of the tool server. Each request uses its own API key; all requests share connections, which the
// returned function closes.
func (s *toolServer) handler(cmd *cobra.Command, tools mcp.Config) (h http.Handler, end func(), err error) {
	e, _, err := findAddress(cmd, s.env)
	if err != nil {
		return nil, nil, err
	}
	shared, err := client.New(client.Config{
		BaseURL: e.baseURL, APIKey: "none", // replaced by the key of each request
		AllowHTTP: e.allowHTTP, Voice: s.choice(), Rand: s.config.Rand, Retry: s.config.Retry, UserAgent: "callwright-mcp",
	})
	if err != nil {
		return nil, nil, usage(err)
	}
	served, err := mcp.NewHandler(mcp.HTTPConfig{
		Tools: tools, Hosts: s.hosts, Origins: s.origins,
		API: func(key callwright.Secret) (mcp.API, error) { return shared.WithKey(key) },
	})
	if err != nil {
		return nil, nil, err
	}
	mux := http.NewServeMux()
	mux.Handle(toolPath, served)
	return mux, func() { _ = shared.Close() }, nil
}

// onThisMachine returns an error for an address that is malformed or that other machines may reach, because keys are sent to it
// unencrypted.
func onThisMachine(addr string) error {
	host, _, err := net.SplitHostPort(addr)
	ip, ipErr := netip.ParseAddr(host)
	if err != nil || host != "localhost" && (ipErr != nil || !ip.IsLoopback()) {
		return errors.New("--addr must be a loopback address and a port, such as 127.0.0.1:8090, [::1]:8090 or localhost:8090: to serve other machines, put a proxy with TLS in front")
	}
	return nil
}

// version returns the version of the program's module, or an empty text if it is unknown.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return ""
}

var _ mcp.API = (*client.Client)(nil)
