package cli

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/transport/client"
)

// The limits for cloning a voice.
const (
	maxVoiceName  = 30       // characters
	maxRecordings = 10 << 20 // bytes of all files together
)

var voiceColumns = columns("NAME=name", "ID=id", "LANGUAGE=language", "SERVICE=service", "KIND=kind", "DESCRIPTION=description")

func voicesCommand(c Config, env func(string) string) *cobra.Command {
	custom := false
	cmd := &cobra.Command{
		Use: "voices", Short: "List voices", Args: exactly(0, "no arguments"), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			a, err := openAPI(c, cmd, env)
			if err != nil {
				return err
			}
			raw, err := a.call(cmd.Context(), client.Request{Path: "/v1/voices"})
			if err != nil {
				return err
			}
			if custom {
				raw = customVoices(raw)
			}
			return showAnswer(cmd, raw, func(w *tabwriter.Writer, v value) { table(w, v.at("voices").list(), "voices", voiceColumns) })
		},
	}
	cmd.Flags().BoolVar(&custom, "custom", false, "only the voices of the organization, which are not public")
	return cmd
}

// customVoices returns the server's list of voices without the public voices.
func customVoices(raw json.RawMessage) json.RawMessage {
	kept := []any{}
	for _, v := range valueOf(raw).at("voices").list() {
		if public, _ := v.at("public").v.(bool); !public {
			kept = append(kept, v.v)
		}
	}
	if shorter, err := json.Marshal(map[string]any{"voices": kept}); err == nil {
		return shorter
	}
	return raw
}

func voiceCommand(c Config, env func(string) string) *cobra.Command {
	cmd := operation{
		use: "voice ID_OR_NAME", short: "Show a voice", args: exactly(1, "the id or the name of a voice"),
		request: func(_ *cobra.Command, args []string) (client.Request, error) {
			return client.Request{Path: client.Path("v1", "voices", args[0])}, nil
		},
		text: func(w *tabwriter.Writer, v value) {
			fields(w, v.at("voice"), columns("Name=name", "Id=id", "Description=description", "Public=public", "Tags=tags", "Service=service",
				"Kind=kind", "Language=language", "Created=created_at"))
		},
	}.command(c, env)
	cmd.ValidArgsFunction = firstArgument(completeVoices(c, env))
	return cmd
}

func cloneCommand(c Config, env func(string) string) *cobra.Command {
	var q client.CloneRequest
	cmd := &cobra.Command{
		Use: "clone NAME FILE...", Short: "Make a voice from recordings",
		Long: "Makes a voice from recordings: WAV, MP3 or Ogg files of 10 MB together. What the server makes of them depends on its cloner:\n" +
			"the local one makes a voice profile, which has the pitch and the tempo of the recordings and not their sound.",
		Example: "  callwright clone Ines ines-1.wav ines-2.mp3",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 2 {
				return usage(errors.New("the command requires a name and at least one recording"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			q.Name = args[0]
			files, done, err := openRecordings(q.Name, args[1:])
			defer done()
			if err != nil {
				return usage(err)
			}
			q.Files = files
			a, err := openAPI(c, cmd, env)
			if err != nil {
				return err
			}
			end := c.progress(cmd, "uploading")
			made, err := a.CloneVoice(cmd.Context(), q)
			end()
			if err != nil {
				return err
			}
			v, _ := a.GetVoice(cmd.Context(), made.VoiceID) // on failure, v is empty: the voice exists nevertheless
			return showClone(cmd, made, v)
		},
	}
	cmd.Flags().StringVar(&q.Description, "description", "", "the `text` that describes the voice")
	cmd.Flags().StringVar(&q.Gender, "gender", "", "a `hint` for the engine")
	return cmd
}

// showClone prints a new voice. v may be empty.
func showClone(cmd *cobra.Command, made client.VoiceName, v client.Voice) error {
	out := struct {
		client.VoiceName

		Kind        string  `json:"kind,omitempty"`
		Service     string  `json:"service,omitempty"`
		Description *string `json:"description,omitempty"`
	}{made, v.Kind, v.Service, v.Description}
	return show(cmd, out, func(w *tabwriter.Writer) {
		printf(w, "Voice\t%s\nId\t%s\n", made.Name, made.VoiceID)
		for _, line := range [][2]string{{"Kind", v.Kind}, {"Service", v.Service}} {
			if line[1] != "" {
				printf(w, "%s\t%s\n", line[0], line[1])
			}
		}
		if v.Description != nil {
			printf(w, "Description\t%s\n", *v.Description)
		}
		if v.Kind == "profile" {
			printf(w, "A profile has the pitch and the tempo of the recordings. It does not sound like the speaker.\n")
		}
	})
}

// openRecordings checks the name of a new voice and opens its recordings, which must be regular files of at most maxRecordings bytes
// together. done closes the files, also after an error.
func openRecordings(name string, paths []string) (files []client.File, done func(), err error) {
	done = func() {
		for _, f := range files {
			_ = f.Content.(*os.File).Close() // the file was only read
		}
	}
	if n := utf8.RuneCountInString(name); n < 1 || n > maxVoiceName {
		return nil, done, fmt.Errorf("the name must have from 1 to %d characters, and has %d", maxVoiceName, n)
	}
	size := int64(0)
	for _, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			return files, done, err
		}
		files = append(files, client.File{Name: filepath.Base(path), Content: f})
		info, err := f.Stat()
		switch {
		case err != nil:
			return files, done, err
		case !info.Mode().IsRegular():
			return files, done, fmt.Errorf("%s: must be a regular file, not a folder, a pipe or a device", path)
		}
		if size += info.Size(); size > maxRecordings {
			return files, done, fmt.Errorf("the recordings must have at most %d bytes together", maxRecordings)
		}
	}
	return files, done, nil
}

func renameCommand(c Config, env func(string) string) *cobra.Command {
	return &cobra.Command{
		Use: "rename ID NAME", Short: "Give a voice another name", Args: exactly(2, "the id of a voice and a name"),
		Example:           "  callwright rename Ines \"Ines two\"",
		ValidArgsFunction: firstArgument(completeOf(c, env, client.VoiceFilter{Custom: true})),
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := openAPI(c, cmd, env)
			if err != nil {
				return err
			}
			renamed, err := a.RenameVoice(cmd.Context(), args[0], args[1])
			if err != nil {
				return notOwn(err)
			}
			return show(cmd, renamed, func(w *tabwriter.Writer) { printf(w, "Voice\t%s\nId\t%s\n", renamed.Name, renamed.VoiceID) })
		},
	}
}

func deleteCommand(c Config, env func(string) string) *cobra.Command {
	yes := false
	cmd := &cobra.Command{
		Use: "delete ID", Short: "Delete a voice for good", Args: exactly(1, "the id of a voice"),
		Long:              "Deletes a voice for good; its samples stay. The command asks first, and takes --yes where nobody can answer.",
		ValidArgsFunction: firstArgument(completeOf(c, env, client.VoiceFilter{Custom: true})),
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := openAPI(c, cmd, env)
			if err != nil {
				return err
			}
			if !yes {
				if err := c.confirm(cmd, fmt.Sprintf("Delete the voice %s for good?", args[0])); err != nil {
					return err
				}
			}
			v, _ := a.GetVoice(cmd.Context(), args[0]) // for the voice's id, which finds its samples; DeleteVoice reports failures
			message, err := a.DeleteVoice(cmd.Context(), cmp.Or(v.ID, args[0]))
			if err != nil {
				return notOwn(err)
			}
			deleted := struct {
				Status  string `json:"status"`
				Message string `json:"message"`
				VoiceID string `json:"voice_id,omitempty"`
			}{"success", message, v.ID}
			return show(cmd, deleted, func(w *tabwriter.Writer) {
				printf(w, "%s\n", cmp.Or(message, "deleted"))
				if v.ID != "" {
					printf(w, "Id: %s\n", v.ID)
				}
			})
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "delete without a question")
	return cmd
}

// notOwn changes the exit code of CodeForbidden to ExitRefused, because the key has the right, but the voice is not the organization's.
func notOwn(err error) error {
	if e, ok := errors.AsType[*client.Error](err); ok && e.Status == http.StatusForbidden && e.Code == string(callwright.CodeForbidden) {
		return refused(err)
	}
	return err
}

// confirm asks a question at the terminal. It returns an error if the user does not answer yes, or if there is no terminal.
func (c Config) confirm(cmd *cobra.Command, question string) error {
	if !c.isTerminal(cmd.InOrStdin()) {
		return usage(errors.New("cannot ask without a terminal: confirm with --yes"))
	}
	_, _ = fmt.Fprintf(cmd.ErrOrStderr(), "%s [y/N] ", visible(question, "")) // no answer means no
	line, _ := bufio.NewReader(cmd.InOrStdin()).ReadString('\n')
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return nil
	}
	return refused(errors.New("nothing was done: the answer to the question must be y or yes"))
}

// The time limit of a completion, and the maximum number of its voices.
const (
	completionTime   = 2 * time.Second
	completionVoices = 500
)

// completeVoices returns a function that completes the names of voices. It completes nothing if the server fails or does not answer within
// completionTime.
func completeVoices(c Config, env func(string) string) cobra.CompletionFunc {
	return completeOf(c, env, client.VoiceFilter{})
}

// completeOf is like completeVoices, for the voices that a filter selects.
func completeOf(c Config, env func(string) string, which client.VoiceFilter) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, start string) ([]string, cobra.ShellCompDirective) {
		parent := cmd.Context()
		if parent == nil {
			parent = context.Background()
		}
		ctx, cancel := context.WithTimeout(parent, completionTime)
		defer cancel()
		a, err := openAPI(c, cmd, env)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		voices, err := a.ListVoices(ctx, which)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var names []string
		for _, v := range voices {
			if len(names) < completionVoices && strings.HasPrefix(strings.ToLower(v.Name), strings.ToLower(start)) {
				names = append(names, strings.Join(strings.Fields(visible(v.Name, "")), " ")+"\t"+visible(v.Service, ""))
			}
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

// firstArgument returns a function that completes only the first argument.
func firstArgument(complete cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, start string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return complete(cmd, args, start)
	}
}

// mustComplete sets the completion of a flag. It panics if the command lacks the flag.
func mustComplete(cmd *cobra.Command, flag string, complete cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, complete); err != nil {
		panic(err) // the flag's name is misspelled in this package
	}
}
