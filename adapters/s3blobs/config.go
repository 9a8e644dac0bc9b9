package s3blobs

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/callwright/callwright"
)

// Config configures Blobs. Bucket, AccessKey and SecretKey are required.
type Config struct {
	Bucket string // must exist
	Prefix string // of all keys, such as "callwright/audio"; may be empty

	Endpoint  string // such as "https://s3.example.com"; if empty, Amazon's endpoint of the region
	Region    string // if empty, us-east-1, which most other services accept
	PathStyle bool   // use https://endpoint/bucket/key, as most other services require, not https://bucket.endpoint/key
	AllowHTTP bool   // accept an http:// endpoint; eavesdroppers can then read the audio, but no secret

	AccessKey    string // the id of the key
	SecretKey    callwright.Secret
	SessionToken callwright.Secret // for a temporary key; empty for a permanent key

	Encryption Encryption // at rest; the zero value means the bucket's default

	// Transport sends requests. If nil, New uses a transport that verifies certificates with the system's roots, requires TLS 1.2 or newer,
	// uses the proxy of the environment, and waits at most 30 seconds for the header of a response.
	Transport http.RoundTripper
}

// Encryption selects how S3 encrypts audio at rest. The zero value uses the bucket's default.
type Encryption struct {
	Algorithm string // "AES256" or "aws:kms"; if empty, the bucket's default
	KMSKey    string // only with "aws:kms"; if empty, the account's default key
}

// set sets the encryption parameters of an upload.
func (e Encryption) set(put *s3.PutObjectInput) {
	put.ServerSideEncryption = types.ServerSideEncryption(e.Algorithm)
	if e.KMSKey != "" {
		put.SSEKMSKeyId = aws.String(e.KMSKey)
	}
}

// The limits of requests and connections, and the default region.
const (
	attempts      = 3 // of a request that fails temporarily
	longestWait   = 2 * time.Second
	dialLimit     = 10 * time.Second
	answerLimit   = 30 * time.Second // for the header of a response, and for each read of its body
	idleLimit     = 90 * time.Second
	maxIdle       = 32 // idle connections
	defaultRegion = "us-east-1"
)

// New checks the configuration and returns Blobs. It sends no request, so that a program starts while the server is unavailable.
func New(config Config) (*Blobs, error) {
	if err := config.check(); err != nil {
		return nil, fmt.Errorf("audio in S3: %w", err)
	}
	options := s3.Options{
		Region: config.Region, UsePathStyle: config.PathStyle,
		Credentials: credentials.NewStaticCredentialsProvider(config.AccessKey, config.SecretKey.Reveal(), config.SessionToken.Reveal()),
		HTTPClient: &http.Client{
			Transport:     config.Transport,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		Retryer: retry.NewStandard(func(o *retry.StandardOptions) { o.MaxAttempts, o.MaxBackoff = attempts, longestWait }),
		// Requests are signed with the digest of their bodies, which every service verifies. Some services do not support additional
		// checksums.
		RequestChecksumCalculation: aws.RequestChecksumCalculationWhenRequired,
		ResponseChecksumValidation: aws.ResponseChecksumValidationWhenRequired,
	}
	if options.Region == "" {
		options.Region = defaultRegion
	}
	if config.Endpoint != "" {
		options.BaseEndpoint = aws.String(config.Endpoint)
	}
	if config.Transport == nil {
		options.HTTPClient.(*http.Client).Transport = newTransport()
	}
	return &Blobs{config: config, client: s3.New(options)}, nil
}

func newTransport() *http.Transport {
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: dialLimit}).DialContext,
		TLSClientConfig:     &tls.Config{MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout: dialLimit, ResponseHeaderTimeout: answerLimit, IdleConnTimeout: idleLimit,
		MaxIdleConnsPerHost: maxIdle, MaxIdleConns: maxIdle, ForceAttemptHTTP2: true, DisableCompression: true,
	}
}

// The valid forms of bucket names and prefixes.
var (
	bucketName = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)
	prefixName = regexp.MustCompile(`^[0-9A-Za-z_.=-]+(/[0-9A-Za-z_.=-]+)*$`)
)

func (c Config) check() error {
	switch {
	case !bucketName.MatchString(c.Bucket):
		return fmt.Errorf("the bucket %q must have 3 to 63 lower-case letters, digits, dots or hyphens, and begin and end with a letter or a digit", c.Bucket)
	case c.Prefix != "" && !prefixName.MatchString(c.Prefix):
		return fmt.Errorf("the prefix %q must consist of names of letters, digits, _, ., = or -, separated by single slashes", c.Prefix)
	case c.AccessKey == "" || c.SecretKey == "":
		return errors.New("the access key and the secret key are required")
	case c.Encryption.Algorithm != "" && c.Encryption.Algorithm != "AES256" && c.Encryption.Algorithm != "aws:kms":
		return fmt.Errorf("the encryption %q must be AES256 or aws:kms", c.Encryption.Algorithm)
	case c.Encryption.KMSKey != "" && c.Encryption.Algorithm != "aws:kms":
		return errors.New("a KMS key requires the encryption aws:kms")
	case c.Endpoint == "":
		return nil
	}
	return c.checkEndpoint()
}

func (c Config) checkEndpoint() error {
	u, err := url.Parse(c.Endpoint)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return errors.New("the endpoint must be a URL such as https://s3.example.com")
	case u.User != nil:
		return errors.New("the endpoint must not contain a user name or password: set AccessKey and SecretKey instead")
	case u.Scheme == "http" && !c.AllowHTTP:
		return errors.New("the endpoint must begin with https://, because http:// sends audio unencrypted; AllowHTTP permits http://")
	}
	return nil
}
