package opus_test

import (
	"fmt"

	"github.com/callwright/callwright/adapters/codec/opus"
)

func ExampleEngine() {
	codec, err := opus.Engine().New()
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
	// Output: opus 16000 Hz, 320 samples <nil>
}
