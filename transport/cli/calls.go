package cli

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net/http"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/transport/client"
	"github.com/callwright/callwright/transport/oas/callsoas"
)

func callsCommand(c Config, env func(string) string) *cobra.Command {
	cmd := group(&cobra.Command{
		Use: "calls", Short: "Place calls and look at them",
		Example: "  callwright calls place +14155550123 --from +14155550100 --task \"Ask whether Tuesday still suits.\"\n" +
			"  callwright calls show 0197f2a4-6d1e-7c3a-9f10-2b6f0c9d4e11",
	})
	for _, o := range callOperations {
		cmd.AddCommand(o.command(c, env))
	}
	cmd.AddCommand(placeCommand(c, env), recordingCommand(c, env))
	return cmd
}

const aCall = "the id of a call"

// statusText prints the message of an answer of the form {status, message}.
func statusText(w *tabwriter.Writer, v value) { printf(w, "%s\n", v.at("message").String()) }

// warnings prints the warnings in an answer: how the call deviates from its request.
func warnings(w *tabwriter.Writer, v value) {
	for _, warning := range v.at("warnings").list() {
		printf(w, "Warning\t%s\n", warning.String())
	}
}

var callOperations = []operation{
	{
		use: "list", short: "List calls, the newest first", args: exactly(0, "no arguments"),
		flags: func(cmd *cobra.Command) {
			paged(cmd)
			cmd.Flags().String("from", "", "only calls from this `number`")
			cmd.Flags().String("to", "", "only calls to this `number`")
			cmd.Flags().String("since", "", "only calls from this `time` or date on")
			cmd.Flags().String("status", "", "only calls with this `status`")
		},
		request: func(cmd *cobra.Command, _ []string) (client.Request, error) {
			return client.Request{
				Path: "/v1/calls", Query: query(cmd, "limit", "cursor", "from=from_number", "to=to_number", "since=start_date", "status"),
			}, nil
		},
		text: func(w *tabwriter.Writer, v value) {
			table(w, v.at("calls").list(), "calls", columns("CALL=call_id", "CREATED=created_at", "FROM=from", "TO=to", "STATUS=status",
				"MINUTES=call_length", "ANSWERED BY=answered_by"))
			next(w, v)
		},
	},
	{
		use: "show CALL", short: "Show a call with its transcript", args: exactly(1, aCall),
		request: func(_ *cobra.Command, args []string) (client.Request, error) {
			return client.Request{Path: client.Path("v1", "calls", args[0])}, nil
		},
		text: func(w *tabwriter.Writer, v value) {
			fields(w, v, columns("Call=call_id", "From=from", "To=to", "Status=status", "Created=created_at", "Started=started_at", "Ended=end_at",
				"Minutes=call_length", "Ended by=call_ended_by", "Error=error_message", "Pathway=pathway_id", "Recording=recording_url", "Summary=summary"))
			warnings(w, v)
			for _, line := range v.at("transcripts").list() {
				lined(w, line.at("user").String(), line.at("text").String())
			}
		},
	},
	{
		use: "stop CALL", short: "End a call", args: exactly(1, aCall), text: statusText,
		request: func(_ *cobra.Command, args []string) (client.Request, error) {
			return client.Request{Method: http.MethodPost, Path: client.Path("v1", "calls", args[0], "stop")}, nil
		},
	},
}

// placement is the request body of callwright calls place.
type placement struct {
	To        string            `json:"phone_number"`
	From      string            `json:"from,omitempty"`
	Task      string            `json:"task,omitempty"`
	Pathway   string            `json:"pathway_id,omitempty"`
	Persona   string            `json:"persona_id,omitempty"`
	Agent     string            `json:"agent_id,omitempty"`
	Voice     string            `json:"voice,omitempty"`
	First     string            `json:"first_sentence,omitempty"`
	Record    bool              `json:"record,omitempty"`
	Minutes   int               `json:"max_duration,omitempty"`
	Variables map[string]string `json:"request_data,omitempty"`
}

func placeCommand(c Config, env func(string) string) *cobra.Command {
	var p placement
	cmd := operation{
		use: "place NUMBER", short: "Place a call with an agent", args: exactly(1, "the number to call, such as +14155550123"),
		long: "Places a call with an agent: a task, a pathway, a persona or a web agent. Sent again after a failure of the network, it is still one call.",
		request: func(_ *cobra.Command, args []string) (client.Request, error) {
			p.To = args[0]
			if p.Task == "" && p.Pathway == "" && p.Persona == "" && p.Agent == "" {
				return client.Request{}, errors.New("set one of --task, --pathway, --persona and --agent")
			}
			return client.Request{Method: http.MethodPost, Path: "/v1/calls", Body: p, IdempotencyKey: rand.Text()}, nil
		},
		text: func(w *tabwriter.Writer, v value) {
			fields(w, v, columns("Call=call_id", "Message=message"))
			warnings(w, v)
		},
	}.command(c, env)
	flags := cmd.Flags()
	flags.StringVar(&p.From, "from", "", "the `number` that calls")
	flags.StringVar(&p.Task, "task", "", "the `text` that tells the agent what to do")
	flags.StringVar(&p.Pathway, "pathway", "", "the `id` of the pathway that leads the call")
	flags.StringVar(&p.Persona, "persona", "", "the `id` of the persona that speaks")
	flags.StringVar(&p.Agent, "agent", "", "the `id` of the web agent that speaks")
	flags.StringVar(&p.Voice, "voice", "", "the `name` or the id of the voice")
	flags.StringVar(&p.First, "first-sentence", "", "the `text` that the agent begins with")
	flags.BoolVar(&p.Record, "record", false, "record the call")
	flags.IntVar(&p.Minutes, "max-duration", 0, "end the call after this many minutes (default: the server's)")
	flags.StringToStringVar(&p.Variables, "var", nil, "a variable of the call, `name=value`; may be given several times")
	mustComplete(cmd, "voice", completeVoices(c, env))
	return cmd
}

func recordingCommand(c Config, env func(string) string) *cobra.Command {
	output := ""
	cmd := &cobra.Command{
		Use: "recording CALL", Short: "Write the recording of a call to a file", Args: exactly(1, aCall),
		Example:           "  callwright calls recording 0197f2a4-6d1e-7c3a-9f10-2b6f0c9d4e11 -o call.wav",
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if output == "" {
				return usage(errors.New("-o is required: the file for the recording, or - for the standard output"))
			}
			if err := c.checkOutput(cmd, output); err != nil {
				return err
			}
			a, err := openAPI(c, cmd, env)
			if err != nil {
				return err
			}
			fetch := func(ctx context.Context, to io.Writer) (int64, error) { return a.recording(ctx, to, args[0]) }
			size, err := c.deliver(cmd, output, nil, fetch)
			if err != nil || output == stdoutName {
				return err
			}
			written := struct {
				Call  string `json:"call_id"`
				File  string `json:"file"`
				Bytes int64  `json:"bytes"`
			}{args[0], output, size}
			return show(cmd, written, func(w *tabwriter.Writer) { printf(w, "File\t%s, %d bytes\n", output, size) })
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "write the recording to a `file`, which keeps its mode and may not be a link, or with - to the standard output (required)")
	return cmd
}

// recording writes the recording of a call to a writer and returns the number of bytes. It returns CodeUnsupportedMedia, and writes
// nothing, if the answer is not a WAV file.
func (a *api) recording(ctx context.Context, to io.Writer, call string) (int64, error) {
	answer, err := a.Calls().GetRecording(ctx, callsoas.GetRecordingParams{CallID: call})
	if err != nil {
		return 0, a.unwrapped(err)
	}
	raw, ok := answer.(*callsoas.GetRecordingOKRawAudioWav)
	if !ok {
		return 0, a.foreignAnswer()
	}
	defer func() { _ = raw.Response.Body.Close() }()
	audio := bufio.NewReader(raw.Response.Body)
	if head, _ := audio.Peek(12); !bytes.HasPrefix(head, []byte("RIFF")) || !bytes.HasSuffix(head, []byte("WAVE")) {
		return 0, callwright.Errorf(callwright.CodeUnsupportedMedia, "the recording must be a WAV file, but the answer of %s is not: nothing was written; check that --%s names a Callwright server",
			a.BaseURL(), serverFlag)
	}
	return io.Copy(to, audio)
}

// textOf returns an argument. If the argument is "-", it returns the first maxComment bytes of the standard input without surrounding white
// space.
func textOf(cmd *cobra.Command, argument string) (string, error) {
	if argument != stdoutName {
		return argument, nil
	}
	raw, err := io.ReadAll(io.LimitReader(cmd.InOrStdin(), maxComment))
	return strings.TrimSpace(string(raw)), err
}

const maxComment = 64 << 10 // maximum bytes read from the standard input
