package tts_test

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/callwright/callwright/speech/speechtest"
	"github.com/callwright/callwright/speech/tts"
)

func ExampleChunker() {
	var chunker tts.Chunker
	for _, piece := range []string{"Good mor", "ning, this is ", "the practice. How ", "can I help?"} { // as a language model outputs them
		for _, chunk := range chunker.Write(piece) {
			fmt.Printf("%q\n", chunk)
		}
	}
	for _, chunk := range chunker.Flush() {
		fmt.Printf("%q\n", chunk)
	}
	// Output:
	// "Good morning, this is the practice."
	// "How can I help?"
}

// The example prints when the words of a text sound. "ETA" is spoken as three letters, but stays one word.
func ExampleMarksOf() {
	const text, rate = "The ETA is nine.", 8000
	guide := tts.NewGuide([]tts.Pronunciation{{Word: "ETA", Spoken: "E T A"}})
	engine := tts.Styled(&speechtest.Engine{}, tts.Prosody{}, guide)
	stream, err := engine.Synthesize(context.Background(), tts.Request{Text: text, Rate: rate})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer stream.Close()
	for buffer := make([]int16, rate); !errors.Is(err, io.EOF); {
		if _, err = stream.Read(buffer); err != nil && !errors.Is(err, io.EOF) {
			fmt.Println(err)
			return
		}
	}
	for _, m := range tts.MarksOf(stream) {
		fmt.Printf("%s: %d to %d ms\n", string([]rune(text)[m.From:m.To]), m.Start*1000/rate, m.End*1000/rate)
	}
	// Output:
	// The: 0 to 150 ms
	// ETA: 200 to 450 ms
	// is: 500 to 600 ms
	// nine: 650 to 850 ms
}
