package mcp

import (
	"context"
	"fmt"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/callwright/callwright/transport/client"
)

type voicesInput struct {
	CustomOnly bool `json:"custom_only,omitempty" jsonschema:"only voices of the organization, which are not public"`
}

// voice is a voice in the results of tools.
type voice struct {
	VoiceID     string     `json:"voice_id"       jsonschema:"id"`
	Name        string     `json:"name"           jsonschema:"name, which can be used in place of the id"`
	Description *string    `json:"description"    jsonschema:"how it sounds"`
	Public      bool       `json:"public"         jsonschema:"whether every organization may use it"`
	Service     string     `json:"service"        jsonschema:"the engine that speaks it"`
	Kind        string     `json:"kind,omitempty" jsonschema:"how it was made; profile: an engine's voice with another pitch and rate"`
	Language    *string    `json:"language"       jsonschema:"language code, when the voice has one"`
	Tags        []string   `json:"tags"           jsonschema:"free labels"`
	CreatedAt   *time.Time `json:"created_at"     jsonschema:"when it was made; null for voices of an engine"`
}

func voiceOf(v client.Voice) voice {
	return voice{v.ID, v.Name, v.Description, v.Public, v.Service, v.Kind, v.Language, append([]string{}, v.Tags...), v.CreatedAt}
}

type voicesOutput struct {
	Voices []voice `json:"voices" jsonschema:"the first 200; tts_voice_get finds every other by its name"`
	Total  int     `json:"total"  jsonschema:"how many there are"`
}

func (t *tools) listVoices(ctx context.Context, api API, in voicesInput) ([]sdk.Content, voicesOutput, error) {
	all, err := api.ListVoices(ctx, client.VoiceFilter{Custom: in.CustomOnly})
	if err != nil {
		return nil, voicesOutput{}, err
	}
	out := voicesOutput{Voices: []voice{}, Total: len(all)}
	var text strings.Builder
	fmt.Fprintf(&text, "%d of %d voices", min(len(all), maxVoices), len(all))
	for _, v := range all[:min(len(all), maxVoices)] {
		out.Voices = append(out.Voices, voiceOf(v))
		fmt.Fprintf(&text, "\n%s  %s  %s", v.Name, v.ID, ownership(v))
	}
	return []sdk.Content{&sdk.TextContent{Text: text.String()}}, out, nil
}

func ownership(v client.Voice) string {
	if v.Public {
		return "public"
	}
	return "custom"
}

type voiceInput struct {
	Voice string `json:"voice" jsonschema:"id or name of a voice"`
}

type voiceOutput struct {
	Voice voice `json:"voice" jsonschema:"the voice"`
}

func (t *tools) getVoice(ctx context.Context, api API, in voiceInput) ([]sdk.Content, voiceOutput, error) {
	v, err := api.GetVoice(ctx, in.Voice)
	if err != nil {
		return nil, voiceOutput{}, err
	}
	text := fmt.Sprintf("%s  %s  %s, engine %s", v.Name, v.ID, ownership(v), v.Service)
	return []sdk.Content{&sdk.TextContent{Text: text}}, voiceOutput{voiceOf(v)}, nil
}

type renameInput struct {
	VoiceID string `json:"voice_id" jsonschema:"id or name of a voice of the organization"`
	Name    string `json:"name"     jsonschema:"the new name, 1 to 30 characters, unique in the organization"`
}

type renameOutput struct {
	VoiceID string `json:"voice_id" jsonschema:"id of the voice"`
	Name    string `json:"name"     jsonschema:"its new name"`
}

func (t *tools) renameVoice(ctx context.Context, api API, in renameInput) ([]sdk.Content, renameOutput, error) {
	v, err := api.RenameVoice(ctx, in.VoiceID, in.Name)
	if err != nil {
		return nil, renameOutput{}, err
	}
	return []sdk.Content{&sdk.TextContent{Text: fmt.Sprintf("Voice %s is now named %s.", v.VoiceID, v.Name)}}, renameOutput(v), nil
}

type deleteInput struct {
	VoiceID string `json:"voice_id" jsonschema:"id or name of a voice of the organization"`
}

type deleteOutput struct {
	VoiceID string `json:"voice_id" jsonschema:"the voice that was deleted, as it was given"`
	Message string `json:"message"  jsonschema:"what the server says"`
}

func (t *tools) deleteVoice(ctx context.Context, api API, in deleteInput) ([]sdk.Content, deleteOutput, error) {
	message, err := api.DeleteVoice(ctx, in.VoiceID)
	if err != nil {
		return nil, deleteOutput{}, err
	}
	return []sdk.Content{&sdk.TextContent{Text: fmt.Sprintf("%s: %s", in.VoiceID, message)}}, deleteOutput{in.VoiceID, message}, nil
}
