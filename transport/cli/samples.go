package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/callwright/callwright/transport/client"
)

func samplesCommand(c Config, env func(string) string) *cobra.Command {
	cmd := group(&cobra.Command{Use: "samples", Short: "List, get and delete what was spoken"})
	list := operation{
		use: "list", short: "List samples, the newest first", args: exactly(0, "no arguments"),
		flags: func(cmd *cobra.Command) {
			cmd.Flags().String("voice", "", "only samples of this voice, by its `id`")
			cmd.Flags().Int("limit", 0, "list at most this many (default: the server's 20)")
			cmd.Flags().Int("offset", 0, "skip this many")
		},
		request: func(cmd *cobra.Command, _ []string) (client.Request, error) {
			return client.Request{Path: "/v1/speak/samples", Query: query(cmd, "voice=voice_id", "limit", "offset")}, nil
		},
		text: func(w *tabwriter.Writer, v value) {
			items := v.at("data").list()
			if total := v.at("total").String(); len(items) == 0 && total != "0" && total != "-" {
				printf(w, "no samples there: --offset is beyond all %s\n", total)
				return
			}
			table(w, items, "samples", columns("SAMPLE=id", "CREATED=created_at", "VOICE=voice_id", "FORMAT=output_format", "TEXT=text"))
			if len(items) > 0 {
				printf(w, "\n%s of %s\n", fmt.Sprint(len(items)), v.at("total").String())
			}
		},
	}.command(c, env)
	mustComplete(list, "voice", completeVoices(c, env))
	cmd.AddCommand(list, sampleCommand(c, env), deleteSampleCommand(c, env))
	return cmd
}

func sampleCommand(c Config, env func(string) string) *cobra.Command {
	output := ""
	cmd := &cobra.Command{
		Use: "get ID", Short: "Show a sample, and write its audio to a file", Args: exactly(1, "the id of a sample"),
		Long:              "Shows a sample, and with -o writes its audio. --json leaves the audio itself out.",
		Example:           "  callwright samples get 01932c2e-0b21-7920-9a52-1e6a1b2c3d4f -o sample.wav",
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.checkOutput(cmd, output); err != nil {
				return err
			}
			a, err := openAPI(c, cmd, env)
			if err != nil {
				return err
			}
			fetch := func(ctx context.Context, to io.Writer) (int64, error) { return a.SampleAudio(ctx, to, args[0]) }
			size, err := c.deliver(cmd, output, nil, fetch)
			if err != nil || output == stdoutName {
				return err
			}
			raw, err := a.call(cmd.Context(), client.Request{Path: client.Path("v1", "speak", "samples", args[0])})
			if err != nil {
				return err
			}
			return show(cmd, sampleJSON(raw, output, size), func(w *tabwriter.Writer) {
				fields(w, valueOf(dataOf(raw)), columns("Sample=id", "Created=created_at", "Voice=voice_id", "Format=output_format", "Text=text", "Audio=url"))
				if output != "" {
					printf(w, "File\t%s, %d bytes\n", output, size)
				}
			})
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "write the audio to a `file`, which keeps its mode and may not be a link, or with - to the standard output")
	return cmd
}

func deleteSampleCommand(c Config, env func(string) string) *cobra.Command {
	yes := false
	cmd := &cobra.Command{
		Use: "delete ID", Short: "Delete a sample for good", Args: exactly(1, "the id of a sample"),
		Long: "Deletes a sample for good, with its text and its audio; links to it stop working. The command asks first, and takes --yes where " +
			"nobody can answer.",
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := openAPI(c, cmd, env)
			if err != nil {
				return err
			}
			if !yes {
				if err := c.confirm(cmd, fmt.Sprintf("Delete the sample %s for good?", args[0])); err != nil {
					return err
				}
			}
			message, err := a.DeleteSample(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			deleted := struct {
				Status   string `json:"status"`
				Message  string `json:"message"`
				SampleID string `json:"sample_id"`
			}{"success", message, args[0]}
			return show(cmd, deleted, func(w *tabwriter.Writer) { printf(w, "%s\n", cmp.Or(message, "deleted")) })
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "delete without a question")
	return cmd
}

// sampleJSON returns the record of a sample without its audio. If file is not empty, it adds the name and the size of the audio file.
func sampleJSON(raw json.RawMessage, file string, size int64) any {
	record, ok := valueOf(dataOf(raw)).v.(map[string]any)
	if !ok {
		return dataOf(raw)
	}
	delete(record, "audio_data")
	if file != "" {
		record["file"], record["bytes"] = file, size
	}
	return record
}
