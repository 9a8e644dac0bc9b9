package client

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"time"

	"github.com/callwright/callwright"
)

// Voice is a voice of the organization or of the server's engine.
type Voice struct {
	ID          string     `json:"id"`
	Name        string     `json:"name"`
	Description *string    `json:"description"`
	Public      bool       `json:"public"` // all organizations may use the voice
	Tags        []string   `json:"tags"`
	UserID      *string    `json:"user_id"`
	VoiceID     string     `json:"voice_id"` // equal to ID
	Service     string     `json:"service"`  // name of the engine or cloner
	Finetuned   bool       `json:"finetuned"`
	Kind        string     `json:"kind,omitempty"`
	Language    *string    `json:"language"`
	CreatedAt   *time.Time `json:"created_at"` // nil for the engine's voices
}

// VoiceName is the id and the name of a voice.
type VoiceName struct {
	VoiceID string `json:"voice_id"`
	Name    string `json:"name"`
}

// VoiceFilter selects the voices that ListVoices returns.
type VoiceFilter struct {
	Custom bool // only voices of the organization, which are not public
}

// ListVoices returns the voices that the organization can use. The client applies the filter to the server's list.
func (c *Client) ListVoices(ctx context.Context, f VoiceFilter) ([]Voice, error) {
	var reply struct {
		Voices []Voice `json:"voices"`
	}
	if err := c.get(ctx, "/v1/voices", nil, &reply); err != nil {
		return nil, err
	}
	voices := make([]Voice, 0, len(reply.Voices))
	for _, v := range reply.Voices {
		if !f.Custom || !v.Public {
			voices = append(voices, v)
		}
	}
	return voices, nil
}

// voiceField is the Field of errors about a voice's id or name.
const voiceField = "voice_id"

// GetVoice returns a voice by id or name.
func (c *Client) GetVoice(ctx context.Context, idOrName string) (Voice, error) {
	if err := checkID(voiceField, idOrName); err != nil {
		return Voice{}, err
	}
	var reply struct {
		Voice Voice `json:"voice"`
	}
	if err := c.get(ctx, Path("v1", "voices", idOrName), nil, &reply); err != nil {
		return Voice{}, err
	}
	return reply.Voice, nil
}

// RenameVoice changes the name of a voice of the organization. The name must have 1 to 30 characters.
func (c *Client) RenameVoice(ctx context.Context, idOrName, name string) (VoiceName, error) {
	if err := checkID(voiceField, idOrName); err != nil {
		return VoiceName{}, err
	}
	var reply struct {
		Data VoiceName `json:"data"`
	}
	q := Request{Method: http.MethodPatch, Path: Path("v1", "voices", idOrName), Body: map[string]string{"name": name}}
	if err := c.call(ctx, q, &reply); err != nil {
		return VoiceName{}, err
	}
	return reply.Data, nil
}

// DeleteVoice deletes a voice of the organization permanently, but not its samples. It returns the server's message.
func (c *Client) DeleteVoice(ctx context.Context, idOrName string) (message string, err error) {
	if err := checkID(voiceField, idOrName); err != nil {
		return "", err
	}
	return c.deleted(ctx, Path("v1", "voices", idOrName))
}

// CloneRequest is a request to make a voice from recordings.
type CloneRequest struct {
	Name        string // 1 to 30 characters
	Description string
	Gender      string // a hint for the engine
	Files       []File // 1 to 10 files, at most 10 MB in total
}

// File is a recording. Content is read while the request is sent, and is not closed.
type File struct {
	Name    string
	Content io.Reader
}

// CloneVoice makes a voice from recordings. It sends the request once, without retries. It returns CodeBadRequest with the field
// "audio_samples" if there is no file or a file cannot be read.
func (c *Client) CloneVoice(ctx context.Context, q CloneRequest) (VoiceName, error) {
	if len(q.Files) == 0 {
		return VoiceName{}, callwright.Invalid("audio_samples", "at least one recording is required")
	}
	files := make([]*recording, len(q.Files))
	for i, f := range q.Files {
		files[i] = &recording{file: f}
	}
	kind, body, err := cloneBody(q, files)
	if err != nil {
		return VoiceName{}, err
	}
	r, err := c.request(ctx, Request{Method: http.MethodPost, Path: "/v1/voices/clone"})
	if err != nil {
		return VoiceName{}, err
	}
	r.Body = io.NopCloser(body)
	r.ContentLength = -1
	r.Header.Set("Content-Type", kind)
	var reply struct {
		Data VoiceName `json:"data"`
	}
	err = c.receive(r, &reply)
	for _, f := range files {
		if f.err != nil { // the reason why there is no answer
			return VoiceName{}, callwright.Invalid("audio_samples", "%s cannot be read: %s", f.file.Name, f.err).Because(f.err)
		}
	}
	if err != nil {
		return VoiceName{}, err
	}
	return reply.Data, nil
}

// recording is a file that records the error of reading it.
type recording struct {
	file File
	err  error
}

// Read reads from the file and records an error other than io.EOF.
func (f *recording) Read(p []byte) (int, error) {
	n, err := f.file.Content.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		f.err = err
	}
	return n, err
}

// cloneBody returns a multipart body and its Content-Type. The files are read while the body is read.
func cloneBody(q CloneRequest, files []*recording) (kind string, body io.Reader, err error) {
	var head bytes.Buffer
	var parts []io.Reader
	form := multipart.NewWriter(&head)
	cut := func() { // moves the buffered text of the form to parts
		parts = append(parts, bytes.NewReader(bytes.Clone(head.Bytes())))
		head.Reset()
	}
	for _, f := range []struct{ name, value string }{{"name", q.Name}, {"description", q.Description}, {"gender", q.Gender}} {
		if f.value == "" && f.name != "name" {
			continue
		}
		if err := form.WriteField(f.name, f.value); err != nil {
			return "", nil, err
		}
	}
	for _, f := range files {
		if _, err := form.CreateFormFile("audio_samples", f.file.Name); err != nil {
			return "", nil, err
		}
		cut()
		parts = append(parts, f)
	}
	if err := form.Close(); err != nil {
		return "", nil, err
	}
	cut()
	return form.FormDataContentType(), io.MultiReader(parts...), nil
}
