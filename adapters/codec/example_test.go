package codec_test

import (
	"fmt"

	"github.com/callwright/callwright/adapters/codec"
	"github.com/callwright/callwright/adapters/codec/g711"
	"github.com/callwright/callwright/adapters/codec/g722"
)

func ExampleSet() {
	codecs := codec.Set{g722.Engine(), g711.PCMU(), g711.PCMA()} // in order of preference
	fmt.Println(codecs.Names())
	_, err := codecs.New("G729")
	fmt.Println(err)
	// Output:
	// [G722 PCMU PCMA]
	// this program cannot use the codec "G729": its codec.Set contains no engine of that name
}
