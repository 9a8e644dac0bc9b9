package mcp

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/transport/client"
)

type speakInput struct {
	Text         string `json:"text"                    jsonschema:"the words, 1 to 5000 characters"`
	Voice        string `json:"voice,omitempty"         jsonschema:"name or id of a voice; without it one is chosen"`
	Language     string `json:"language,omitempty"      jsonschema:"language code, such as en or en-US"`
	IncludeAudio bool   `json:"include_audio,omitempty" jsonschema:"put the audio into the result, up to 4 MiB, beside its address"`
}

type speakOutput struct {
	URL           string  `json:"url"            jsonschema:"address of the WAV file; it works without a key until it expires"`
	SampleID      string  `json:"sample_id"      jsonschema:"id of the stored sample"`
	VoiceUsed     *string `json:"voice_used"     jsonschema:"the voice that spoke; null when the server chose it and did not say which"`
	AudioIncluded bool    `json:"audio_included" jsonschema:"whether the result holds the audio"`
}

func (t *tools) speak(ctx context.Context, api API, in speakInput) ([]sdk.Content, speakOutput, error) {
	s, err := api.Speak(ctx, client.SpeakRequest{Text: in.Text, Voice: in.Voice, Language: in.Language})
	if err != nil {
		return nil, speakOutput{}, err
	}
	audio, note := t.fetch(ctx, in.IncludeAudio, func(w io.Writer) (int64, error) { return api.Download(ctx, w, s.URL) })
	out := speakOutput{URL: s.URL, SampleID: s.SampleID, AudioIncluded: len(audio) > 0}
	text := fmt.Sprintf("Spoken as sample %s: %s", s.SampleID, s.URL)
	if s.VoiceUsed != "" {
		out.VoiceUsed = &s.VoiceUsed
		text = fmt.Sprintf("Spoken by %s as sample %s: %s", s.VoiceUsed, s.SampleID, s.URL)
	}
	return spoken(text, note, s.URL, s.SampleID, audio), out, nil
}

type samplesInput struct {
	VoiceID string `json:"voice_id,omitempty" jsonschema:"only samples of this voice, by id or name"`
	Limit   int    `json:"limit,omitempty"    jsonschema:"page size, 1 to 100; 20 without it"`
	Offset  int    `json:"offset,omitempty"   jsonschema:"samples to skip from the newest"`
}

// sample is a stored speech output in the results of tools.
type sample struct {
	SampleID  string    `json:"sample_id"     jsonschema:"id"`
	Text      string    `json:"text"          jsonschema:"the words"`
	VoiceID   string    `json:"voice_id"      jsonschema:"the voice that spoke; it stays when the voice is deleted"`
	Format    string    `json:"output_format" jsonschema:"sample rate and encoding"`
	URL       string    `json:"url"           jsonschema:"address of the WAV file; it works without a key until it expires"`
	CreatedAt time.Time `json:"created_at"    jsonschema:"when it was made"`
}

func sampleOf(s client.Sample) sample {
	return sample{s.ID, s.Text, s.VoiceID, s.Format, s.URL, s.CreatedAt}
}

type samplesOutput struct {
	Samples []sample `json:"samples" jsonschema:"newest first"`
	Total   int      `json:"total"   jsonschema:"samples that match the filter"`
	Limit   int      `json:"limit"   jsonschema:"page size that was used"`
	Offset  int      `json:"offset"  jsonschema:"samples that were skipped"`
}

func (t *tools) listSamples(ctx context.Context, api API, in samplesInput) ([]sdk.Content, samplesOutput, error) {
	list, err := api.ListSamples(ctx, client.SampleFilter(in))
	if err != nil {
		return nil, samplesOutput{}, err
	}
	out := samplesOutput{Samples: []sample{}, Total: list.Total, Limit: list.Limit, Offset: list.Offset}
	var text strings.Builder
	fmt.Fprintf(&text, "%d of %d samples", len(list.Samples), list.Total)
	for _, s := range list.Samples[:min(len(list.Samples), maxPage)] {
		out.Samples = append(out.Samples, sampleOf(s))
		fmt.Fprintf(&text, "\n%s  %s  %s  %q", s.ID, s.CreatedAt.Format(time.RFC3339), s.VoiceID, callwright.Clip(s.Text, 80))
	}
	return []sdk.Content{&sdk.TextContent{Text: text.String()}}, out, nil
}

type sampleInput struct {
	SampleID     string `json:"sample_id"               jsonschema:"id of a sample"`
	IncludeAudio bool   `json:"include_audio,omitempty" jsonschema:"put the audio into the result, up to 4 MiB, beside its address"`
}

type sampleOutput struct {
	Sample        sample `json:"sample"         jsonschema:"the sample"`
	AudioIncluded bool   `json:"audio_included" jsonschema:"whether the result holds the audio"`
}

func (t *tools) getSample(ctx context.Context, api API, in sampleInput) ([]sdk.Content, sampleOutput, error) {
	s, err := api.SampleInfo(ctx, in.SampleID)
	if err != nil {
		return nil, sampleOutput{}, err
	}
	audio, note := t.fetch(ctx, in.IncludeAudio, func(w io.Writer) (int64, error) { return api.SampleAudio(ctx, w, in.SampleID) })
	text := fmt.Sprintf("Sample %s, spoken by %s: %s", s.ID, s.VoiceID, s.URL)
	return spoken(text, note, s.URL, s.ID, audio), sampleOutput{sampleOf(s), len(audio) > 0}, nil
}
