package pcm_test

import (
	"bytes"
	"fmt"
	"time"

	"github.com/callwright/callwright/speech/pcm"
)

// The example reads a WAV file, converts it to 8 kHz, and measures its level.
func ExampleReadWAV() {
	var file bytes.Buffer
	if err := pcm.WriteWAV(&file, pcm.Audio{Rate: 16000, Channels: 1, Samples: tone(440, 16000, 16000)}); err != nil {
		fmt.Println(err)
		return
	}
	audio, err := pcm.ReadWAV(&file, 1<<20)
	if err != nil {
		fmt.Println(err)
		return
	}
	narrow, err := pcm.Resample(audio.Mono(), audio.Rate, 8000)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%v, %d samples, %.0f dBFS\n", audio.Duration().Round(time.Millisecond), len(narrow), pcm.Loudness(narrow))
	// Output: 1s, 8000 samples, -13 dBFS
}
