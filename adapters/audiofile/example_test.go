package audiofile_test

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/audiofile"
	"github.com/callwright/callwright/speech/pcm"
)

// The example decodes a recording and refuses a document. File names play no role.
func ExampleDecoder_Decode() {
	var file bytes.Buffer
	if err := pcm.WriteMuLawWAV(&file, pcm.Audio{Rate: 8000, Channels: 2, Samples: make([]int16, 16000)}); err != nil {
		fmt.Println(err)
		return
	}
	var decoder audiofile.Decoder
	audio, err := decoder.Decode(context.Background(), bytes.NewReader(file.Bytes()), time.Minute)
	fmt.Println(audio.Duration(), audio.Channels, err)
	_, err = decoder.Decode(context.Background(), bytes.NewReader([]byte("PK\x03\x04voice.wav")), time.Minute)
	fmt.Println(callwright.CodeOf(err), err)
	// Output:
	// 1s 1 <nil>
	// UNSUPPORTED_MEDIA the file is a ZIP archive or an office document: upload a recording as WAV, MP3 or Ogg Vorbis
}
