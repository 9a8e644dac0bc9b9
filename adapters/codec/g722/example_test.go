package g722_test

import (
	"fmt"

	"github.com/callwright/callwright/adapters/codec/g722"
)

func ExampleEngine() {
	codec, err := g722.Engine().New()
	if err != nil {
		fmt.Println(err)
		return
	}
	payload, err := codec.Encode(nil, make([]int16, codec.Rate()/50)) // 20 ms
	if err != nil {
		fmt.Println(err)
		return
	}
	samples, err := codec.Decode(nil, payload)
	fmt.Println(codec.Name(), codec.Rate(), "Hz,", len(samples), "samples", err)
	// Output: G722 16000 Hz, 320 samples <nil>
}
