// Package s3blobs stores the audio of samples in a bucket of Amazon S3, or of another service with the same API, such as MinIO, Ceph or
// Cloudflare R2. All nodes of a deployment can access it.
//
//	blobs, err := s3blobs.New(s3blobs.Config{
//		Bucket: "callwright-audio", Region: "eu-central-1", AccessKey: id, SecretKey: callwright.Secret(secret),
//	})
//	service, err := speech.New(speech.Config{Blobs: blobs, ...})
//
// The package is a separate module, so that programs that store audio elsewhere do not include its dependencies. A program requires both
// modules in the same release:
//
//	go get github.com/callwright/callwright github.com/callwright/callwright/adapters/s3blobs
//
// A program with a copy of the repository replaces both modules with folders of that copy.
//
// # The bucket
//
// The audio "name" of an organization is the object PREFIX/ORG/name.wav. The bucket must exist. The key needs s3:PutObject, s3:GetObject
// and s3:DeleteObject on PREFIX/*. It also needs s3:ListBucket, without which S3 denies access to an absent object instead of reporting
// that it is absent.
//
// Each object records its size in its metadata, callwright-size, so that OpenBlob detects a truncated object. The service deletes samples
// after their retention. If a rule of the bucket deletes objects earlier, samples remain without audio.
package s3blobs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/speech"
)

// Blobs stores audio in a bucket. It implements speech.Blobs.
type Blobs struct {
	config Config
	client *s3.Client
}

var _ speech.Blobs = (*Blobs)(nil)

// plain matches the organization ids and names that may become parts of keys.
var plain = regexp.MustCompile(`^[0-9A-Za-z_-]{1,128}$`)

// key returns the object key of audio. It returns an error if plain does not match org or name.
func (b *Blobs) key(org callwright.OrgID, name string) (string, error) {
	if !plain.MatchString(string(org)) || !plain.MatchString(name) {
		return "", fmt.Errorf("audio: the organization %q and the id %q must each have 1 to 128 characters: A-Z, a-z, 0-9, _ or -", org, name)
	}
	key := string(org) + "/" + name + ".wav"
	if b.config.Prefix != "" {
		key = b.config.Prefix + "/" + key
	}
	return key, nil
}

// StoreBlob uploads size bytes of audio to the bucket. It writes r to a temporary file first, unless r is a *bytes.Reader, because S3
// requires the digest of the audio before its bytes, and because a failed request is sent again. If the upload fails, StoreBlob tries to
// delete the object.
func (b *Blobs) StoreBlob(ctx context.Context, org callwright.OrgID, name string, r io.Reader, size int64) error {
	key, err := b.key(org, name)
	if err != nil {
		return err
	}
	body, free, err := seekable(ctx, r, size)
	if err != nil {
		return err
	}
	defer free()
	put := &s3.PutObjectInput{
		Bucket: &b.config.Bucket, Key: &key, Body: body, ContentLength: &size, ContentType: aws.String("audio/wav"),
		Metadata: map[string]string{sizeKey: strconv.FormatInt(size, 10)},
	}
	b.config.Encryption.set(put)
	limited, cancel := context.WithTimeout(ctx, putLimit)
	defer cancel()
	if _, err = b.client.PutObject(limited, put); err == nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	if err != nil {
		b.revoke(ctx, key)
		return translate(ctx, err)
	}
	return nil
}

// putLimit is the maximum duration of an upload, including retries.
const putLimit = 10 * time.Minute

// revokeLimit is the maximum duration of the request that deletes an object after a failed upload.
const revokeLimit = 5 * time.Second

// revoke deletes an object whose upload may have succeeded although no response arrived. It ignores errors, because the service later
// deletes audio without a sample.
func (b *Blobs) revoke(ctx context.Context, key string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), revokeLimit)
	defer cancel()
	_, _ = b.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &b.config.Bucket, Key: &key}, func(o *s3.Options) { o.RetryMaxAttempts = 1 })
}

// seekable returns exactly size bytes of r in a form that can be read again, and a function that releases them. It returns an error if r
// yields fewer or more bytes.
func seekable(ctx context.Context, r io.Reader, size int64) (body io.ReadSeeker, free func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	if inMemory, ok := r.(*bytes.Reader); ok {
		if n := int64(inMemory.Len()); n != size {
			return nil, nil, wrongSize(n, size)
		}
		return inMemory, func() {}, nil
	}
	f, err := os.CreateTemp("", "callwright-audio-*") // with mode 0600
	if err != nil {
		return nil, nil, fmt.Errorf("audio: %w", err)
	}
	free = func() {
		_ = f.Close()
		_ = os.Remove(f.Name())
	}
	n, err := io.Copy(f, io.LimitReader(reader{ctx, r}, size+1))
	if err == nil && n != size {
		err = wrongSize(n, size)
	}
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		free()
		return nil, nil, err
	}
	return f, free, nil
}

func wrongSize(n, size int64) error {
	if n > size {
		return fmt.Errorf("audio: more than the announced %d bytes were received", size)
	}
	return fmt.Errorf("audio: %d bytes were announced, but only %d were received", size, n)
}

// reader reads from r until ctx ends.
type reader struct {
	ctx context.Context //nolint:containedctx // it lives as long as a call of StoreBlob
	r   io.Reader
}

// Read reads from r, or returns the error of ctx if ctx has ended.
func (r reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}

// OpenBlob opens audio, which is downloaded as it is read. The reader must not be used after ctx has ended. OpenBlob returns CodeNotFound
// if the audio is absent, and CodeUnavailable if the object was truncated.
func (b *Blobs) OpenBlob(ctx context.Context, org callwright.OrgID, name string) (io.ReadSeekCloser, error) {
	key, err := b.key(org, name)
	if err != nil {
		return nil, callwright.NotFound("audio").Because(err)
	}
	opened := &blob{ctx: ctx, blobs: b, key: key}
	object, err := opened.get(nil)
	if err != nil {
		return nil, err
	}
	if object.ContentLength == nil || object.ETag == nil {
		err = errNoS3.Because(errors.New("the response must contain Content-Length and ETag"))
	} else {
		opened.etag, opened.size = object.ETag, *object.ContentLength
		err = checkSize(object.Metadata, opened.size)
	}
	if err != nil {
		opened.discard()
		return nil, err
	}
	return opened, nil
}

// sizeKey is the metadata key under which StoreBlob records the size of an object in bytes.
const sizeKey = "callwright-size"

// checkSize returns an error if the size of an object differs from the size in its metadata. It accepts an object without this metadata,
// because other tools may copy objects without it.
func checkSize(metadata map[string]string, size int64) error {
	for name, value := range metadata {
		if strings.EqualFold(name, sizeKey) && value != strconv.FormatInt(size, 10) {
			return errCut.Because(fmt.Errorf("the object has %d bytes, and %.20q were stored", size, value))
		}
	}
	return nil
}

// DeleteBlob deletes audio. It returns no error if the audio is absent.
func (b *Blobs) DeleteBlob(ctx context.Context, org callwright.OrgID, name string) error {
	key, err := b.key(org, name)
	if err != nil {
		return nil //nolint:nilerr // no such audio is kept
	}
	_, err = b.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &b.config.Bucket, Key: &key})
	if err = translate(ctx, err); errors.Is(err, callwright.ErrNotFound) {
		return nil
	}
	return err
}
