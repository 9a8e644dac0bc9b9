package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const wavType = "audio/wav"

// errFull is the error of a download that exceeds the maximum size of audio in a result.
var errFull = errors.New("the audio is too large for a result")

// buffer stores a download, and aborts it if it has more bytes than the limit. It does not embed bytes.Buffer, because io.Copy would then
// call the method ReadFrom and bypass Write.
type buffer struct {
	kept []byte
	most int64
}

// Write stores p, or returns errFull if the limit would be exceeded.
func (b *buffer) Write(p []byte) (int, error) {
	if int64(len(b.kept)+len(p)) > b.most {
		return 0, errFull
	}
	b.kept = append(b.kept, p...)
	return len(p), nil
}

// link returns the link to a sample's audio as content of a result.
func link(url, sample string) sdk.Content {
	return &sdk.ResourceLink{URI: url, Name: "speech-" + sample + ".wav", Title: "Speech", MIMEType: wavType}
}

// fetch downloads audio for a result by means of the function load. Audio that was not requested is included only if it has at most t.small
// bytes. If requested audio cannot be included, fetch returns a note with the reason instead. If other audio cannot be included, fetch
// returns neither.
func (t *tools) fetch(ctx context.Context, asked bool, load func(io.Writer) (int64, error)) (audio []byte, note string) {
	most := t.small
	if asked {
		most = t.most
	}
	if most <= 0 {
		return nil, ""
	}
	if claimAudio(ctx, most, asked) != nil {
		if asked {
			note = "The server is sending too much audio in other results to include this one: use the link."
		}
		return nil, note
	}
	b := &buffer{most: most}
	_, err := load(b)
	switch {
	case err == nil:
		return b.kept, ""
	case !asked:
		return nil, ""
	case errors.Is(err, errFull):
		return nil, t.tooLarge()
	}
	return nil, "The audio could not be downloaded: " + explain(err).Message
}

func (t *tools) tooLarge() string {
	return fmt.Sprintf("The audio has more than %d bytes, the limit of a result: use the link.", t.most)
}

// spoken returns the content of a result: a text with an optional note, a link to the audio and, if not empty, the audio.
func spoken(text, note, url, sample string, audio []byte) []sdk.Content {
	if note != "" {
		text += "\n" + note
	}
	content := []sdk.Content{&sdk.TextContent{Text: text}, link(url, sample)}
	if len(audio) > 0 {
		content = append(content, &sdk.AudioContent{Data: audio, MIMEType: wavType})
	}
	return content
}
