package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const wavType = "audio/wav"

// errFull says that a recording is longer than a result may hold.
var errFull = errors.New("the audio is too large for a result")

// buffer keeps at most so many bytes, and ends a download that has more. It embeds no bytes.Buffer, whose ReadFrom io.Copy would take.
type buffer struct {
	kept []byte
	most int64
}

// Write keeps p, or fails with errFull.
func (b *buffer) Write(p []byte) (int, error) {
	if int64(len(b.kept)+len(p)) > b.most {
		return 0, errFull
	}
	b.kept = append(b.kept, p...)
	return len(p), nil
}

// link returns the address of audio as content.
func link(url, sample string) sdk.Content {
	return &sdk.ResourceLink{URI: url, Name: "speech-" + sample + ".wav", Title: "Speech", MIMEType: wavType}
}

// fetch returns audio for a result, which load writes, or a sentence that says why it is not there. Audio that was not requested
// has no sentence.
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
			note = "The server holds too much audio of other results to include this one: use the link."
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
	return fmt.Sprintf("The audio has more than %d bytes, which is the most that a result holds: use the link.", t.most)
}

// spoken returns content with a text, a link to audio and, if there is some, the audio.
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
