module github.com/callwright/callwright/adapters/audiofile

go 1.26.8

require (
	github.com/callwright/callwright v0.0.0
	github.com/callwright/callwright/adapters/codec/opus v0.0.0
	github.com/hajimehoshi/go-mp3 v0.3.4
	github.com/jfreymuth/vorbis v1.0.2
)

require (
	github.com/thesyncim/gopus v0.1.1 // indirect
	go.uber.org/goleak v1.3.0 // indirect
	golang.org/x/text v0.44.0 // indirect
)
