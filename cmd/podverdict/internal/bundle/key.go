package bundle

import (
	"crypto/ecdsa"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"

	opabundle "github.com/open-policy-agent/opa/v1/bundle"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/manifest"
)

// keyID is what OPA calls the key where none is named, as its own commands do.
const keyID = "default"

// sign signs the rules with the private key in a file.
func sign(rules *opabundle.Bundle, name string) error {
	text, key, err := readKey(name)
	if err != nil {
		return err
	}
	algorithm, private, err := algorithmOf(key)
	if err != nil {
		return in(name, err)
	}
	if !private {
		return in(name, errPublicKey)
	}
	return rules.GenerateSignature(opabundle.NewSigningConfig(text, algorithm, ""), keyID, true)
}

// verification returns a demand for a signature by the key in a file, public or private.
func verification(name string) (*opabundle.VerificationConfig, error) {
	text, key, err := readKey(name)
	if err != nil {
		return nil, err
	}
	algorithm, _, err := algorithmOf(key)
	if err != nil {
		return nil, in(name, err)
	}
	keys := map[string]*opabundle.KeyConfig{keyID: {Key: text, Algorithm: algorithm}}
	return opabundle.NewVerificationConfig(keys, keyID, "", nil), nil
}

func readKey(name string) (text string, key any, err error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return "", nil, manifest.ErrUnreadable(name, err)
	}
	block, _ := pem.Decode(data)
	if block == nil {
		return "", nil, in(name, errNotPEM)
	}
	key, err = parse(block)
	if err != nil {
		return "", nil, in(name, err)
	}
	return string(pem.EncodeToMemory(block)), key, nil
}

func parse(block *pem.Block) (any, error) {
	switch block.Type {
	case "RSA PRIVATE KEY":
		return x509.ParsePKCS1PrivateKey(block.Bytes)
	case "EC PRIVATE KEY":
		return x509.ParseECPrivateKey(block.Bytes)
	case "PRIVATE KEY":
		return x509.ParsePKCS8PrivateKey(block.Bytes)
	case "RSA PUBLIC KEY":
		return x509.ParsePKCS1PublicKey(block.Bytes)
	case "PUBLIC KEY":
		return x509.ParsePKIXPublicKey(block.Bytes)
	case "CERTIFICATE":
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, err
		}
		return certificate.PublicKey, nil
	}
	return nil, errNotPEM
}

// algorithmOf returns the algorithm of a key's signatures, and whether the key is the private one, which signs.
func algorithmOf(key any) (algorithm string, private bool, err error) {
	switch key := key.(type) {
	case *rsa.PrivateKey:
		return "RS256", true, nil
	case *rsa.PublicKey:
		return "RS256", false, nil
	case *ecdsa.PrivateKey:
		algorithm, err = curveAlgorithm(key.PublicKey)
		return algorithm, true, err
	case *ecdsa.PublicKey:
		algorithm, err = curveAlgorithm(*key)
		return algorithm, false, err
	}
	return "", false, errKeyKind
}

func curveAlgorithm(key ecdsa.PublicKey) (string, error) {
	switch bits := key.Curve.Params().BitSize; bits {
	case 256, 384:
		return fmt.Sprintf("ES%d", bits), nil
	case 521:
		return "ES512", nil
	}
	return "", errKeyKind
}
