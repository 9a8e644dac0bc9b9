package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/callwright/callwright/transport/client"
)

// voiceVariable is the environment variable that sets the voice of callwright speak and callwright mcp.
const voiceVariable = "SERVICE_VOICE"

const maxSpeak = 5000 // maximum characters of a text

// speechFormats lists the audio formats of the API.
var speechFormats = []string{"pcm_8000", "pcm_16000", "pcm_24000", "pcm_44100", "pcm_48000", "ulaw_8000"}

// speaker implements callwright speak.
type speaker struct {
	config Config
	env    func(string) string

	voice, language, format string
	serverVoice, play       bool
	output, file            string
}

func speakCommand(c Config, env func(string) string) *cobra.Command {
	s := &speaker{config: c, env: env}
	cmd := &cobra.Command{
		Use: "speak [TEXT]", Short: "Turn text into speech",
		Long: "Turns a text of at most 5,000 characters into speech, which the server keeps as a sample. The text is the argument, a file, or\n" +
			"what comes through a pipe. Without --voice and " + voiceVariable + " one of three voices is drawn at random; if the server refuses that\n" +
			"one, it chooses itself. The voice that is shown is the one that was asked for, or the id of the one that the server chose.",
		Example: `  callwright speak "Your appointment is on Tuesday at nine." -o reminder.wav` + "\n" +
			"  callwright speak --file letter.txt --voice slt --format ulaw_8000 -o letter.wav\n" +
			"  echo Hello | callwright speak -o - | sox -t wav - hello.flac\n" +
			"  callwright speak Hello --play",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usage(errors.New("the text must be one argument: put it in quotes"))
			}
			return nil
		},
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              s.run,
	}
	flags := cmd.Flags()
	flags.StringVar(&s.voice, "voice", "", "the `name` or the id of the voice, or "+voiceVariable)
	flags.BoolVar(&s.serverVoice, "server-voice", false, "let the server choose the voice")
	flags.StringVar(&s.language, "language", "", "the `code` of the language, such as en")
	flags.StringVar(&s.format, "format", "", "the `format` of the audio: "+strings.Join(speechFormats, ", "))
	flags.StringVarP(&s.output, "output", "o", "", "write the audio to a `file`, which keeps its mode and may not be a link, or with - to the standard output")
	flags.StringVar(&s.file, "file", "", "read the text from a `file`, or with - from the standard input")
	flags.BoolVar(&s.play, "play", false, "play the audio")
	cmd.MarkFlagsMutuallyExclusive("voice", "server-voice")
	mustComplete(cmd, "voice", completeVoices(c, env))
	mustComplete(cmd, "format", cobra.FixedCompletions(speechFormats, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// spokenJSON is the form in which --json prints the result of callwright speak.
type spokenJSON struct {
	URL       string  `json:"url"`
	SampleID  string  `json:"sample_id"`
	VoiceUsed *string `json:"voice_used"` // null if the server chose the voice and does not name it
	File      string  `json:"file,omitempty"`
	Bytes     int64   `json:"bytes,omitempty"` // size of the file
}

func (s *speaker) run(cmd *cobra.Command, args []string) error {
	if err := s.config.checkOutput(cmd, s.output); err != nil {
		return err
	}
	text, err := s.text(cmd, args)
	if err != nil {
		return usage(err)
	}
	var player []string
	if s.play {
		if player, err = findPlayer(s.env); err != nil {
			return err
		}
	}
	a, err := openClient(s.config, cmd, s.env, s.choice())
	if err != nil {
		return err
	}
	done := s.config.progress(cmd, "speaking")
	spoken, err := a.Speak(cmd.Context(), client.SpeakRequest{Text: text, Voice: s.voice, Language: s.language, Format: s.format})
	done()
	if err != nil {
		return err
	}
	out := spokenJSON{URL: spoken.URL, SampleID: spoken.SampleID, File: s.output}
	if spoken.VoiceUsed != "" {
		out.VoiceUsed = &spoken.VoiceUsed
	}
	fetch := func(ctx context.Context, to io.Writer) (int64, error) { return a.Download(ctx, to, spoken.URL) }
	if out.Bytes, err = s.config.deliver(cmd, s.output, player, fetch); err != nil {
		return fmt.Errorf("the speech is stored as the sample %s, but it was not delivered: %w", spoken.SampleID, err)
	}
	if s.output == stdoutName {
		return nil
	}
	return show(cmd, out, out.text)
}

// choice returns which voice speaks if --voice is not set.
func (s *speaker) choice() client.VoiceChoice {
	switch pinned := s.env(voiceVariable); {
	case s.serverVoice:
		return client.ServerVoice()
	case pinned != "":
		return client.PinnedVoice(pinned)
	default:
		return client.VoiceChoice{}
	}
}

func (s spokenJSON) text(w *tabwriter.Writer) {
	printf(w, "Sample\t%s\n", s.SampleID)
	if s.VoiceUsed != nil {
		printf(w, "Voice\t%s\n", *s.VoiceUsed)
	}
	if s.File != "" {
		printf(w, "File\t%s, %d bytes\n", s.File, s.Bytes)
	} else {
		printf(w, "Audio\t%s\n", s.URL)
	}
}

// text returns the text to speak, from the argument, a file or the standard input.
func (s *speaker) text(cmd *cobra.Command, args []string) (string, error) {
	var from io.Reader
	switch {
	case len(args) == 1 && s.file != "":
		return "", errors.New("the text must be an argument or in --file, not both")
	case len(args) == 1:
		from = strings.NewReader(args[0])
	case s.file != "" && s.file != stdoutName:
		f, err := os.Open(s.file)
		if err != nil {
			return "", fmt.Errorf("--file: %w", err)
		}
		defer func() { _ = f.Close() }()
		from = f
	case s.file == "" && s.config.isTerminal(cmd.InOrStdin()):
		return "", errors.New("a text is required: pass it as an argument, with --file, or through a pipe")
	default:
		from = cmd.InOrStdin()
	}
	const limit = maxSpeak*utf8.UTFMax + 64<<10
	raw, err := io.ReadAll(io.LimitReader(from, limit))
	if err != nil {
		return "", fmt.Errorf("the text cannot be read: %w", err)
	}
	text := strings.TrimSpace(strings.TrimPrefix(string(raw), "\ufeff"))
	switch {
	case !utf8.ValidString(text) && len(raw) < limit: // the limit may cut a character
		return "", errors.New("the text must be UTF-8")
	case text == "":
		return "", errors.New("the text is empty: at least one character other than white space is required")
	case utf8.RuneCountInString(text) > maxSpeak:
		return "", fmt.Errorf("the text must have at most %d characters: split it", maxSpeak)
	}
	return text, nil
}

// progress prints to a terminal what the command waits for, until done is called. It prints nothing if stderr is not a terminal or --json
// is set.
func (c Config) progress(cmd *cobra.Command, what string) (done func()) {
	to := cmd.ErrOrStderr()
	if asJSON(cmd) || !c.isTerminal(to) {
		return func() {}
	}
	_, _ = fmt.Fprintf(to, "%s ...", what) // an error cannot be reported
	return func() { _, _ = fmt.Fprint(to, "\r\x1b[K") }
}

// deliver fetches audio, writes it to output, and plays it if player is not nil. It returns the size of the audio, or 0 if neither is
// requested.
func (c Config) deliver(cmd *cobra.Command, output string, player []string, fetch func(context.Context, io.Writer) (int64, error)) (n int64, err error) {
	done := c.progress(cmd, "downloading")
	defer done()
	save := func(name string) error {
		return writeFile(name, func(to io.Writer) (err error) {
			n, err = fetch(cmd.Context(), to)
			return err
		})
	}
	switch {
	case output == stdoutName && player == nil:
		return fetch(cmd.Context(), cmd.OutOrStdout())
	case player == nil && output == "":
		return 0, nil
	case player == nil:
		err = save(output)
		return n, err
	}
	name := output
	if output == "" || output == stdoutName {
		folder, err := os.MkdirTemp("", "callwright")
		if err != nil {
			return 0, err
		}
		defer func() { _ = os.RemoveAll(folder) }() // deletes only the temporary folder
		name = folder + "/speech.wav"
	}
	if err := save(name); err != nil {
		return n, err
	}
	done()
	if output == stdoutName {
		raw, err := os.ReadFile(name)
		if err != nil {
			return n, err
		}
		if _, err := cmd.OutOrStdout().Write(raw); err != nil {
			return n, err
		}
	}
	return n, play(cmd.Context(), player, name)
}
