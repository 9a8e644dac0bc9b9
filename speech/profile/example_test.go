package profile_test

import (
	"context"
	"fmt"

	"github.com/callwright/callwright/speech"
	"github.com/callwright/callwright/speech/pcm"
	"github.com/callwright/callwright/speech/profile"
)

// The example measures a recording, and makes a profile from the nearest voice of an engine.
func ExampleCloner() {
	recording := voice(100, 5, 6, 16000) // in production, of a person
	measured, err := profile.Measure(recording)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.0f Hz, %.0f syllables a second\n", measured.Pitch, measured.Tempo)

	cloner, err := profile.NewCloner(chorus()) // in production, an engine such as flite
	if err != nil {
		fmt.Println(err)
		return
	}
	clone, err := cloner.Clone(context.Background(), speech.Cloning{Recordings: []pcm.Audio{recording}, Language: "en"})
	fmt.Printf("%s, pitch times %.1f, %v\n", clone.Base, clone.Prosody.Pitch, err)
	// Output:
	// 100 Hz, 5 syllables a second
	// low, pitch times 1.1, <nil>
}
