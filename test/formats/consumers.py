"""Reads a list of tokens with their key sets from stdin, and writes what the reader that is named makes of each."""

import importlib.metadata
import json
import sys


def status_by_pyjwt(token, keys, alg):
    import jwt

    key = jwt.PyJWKSet.from_dict(keys)[jwt.get_unverified_header(token)["kid"]]
    return jwt.decode(token, key, algorithms=[alg])["ear_status"]


def status_by_jwcrypto(token, keys, alg):
    from jwcrypto import jwk, jwt

    read = jwt.JWT(jwt=token, key=jwk.JWKSet.from_json(json.dumps(keys)), algs=[alg])
    return json.loads(read.claims)["ear_status"]


def status_by_python_jose(token, keys, alg):
    from jose import jwt

    return jwt.decode(token, keys, algorithms=[alg])["ear_status"]


READERS = {"PyJWT": status_by_pyjwt, "jwcrypto": status_by_jwcrypto, "python-jose": status_by_python_jose}


def answer(reader, case):
    try:
        return READERS[reader](**case)
    except Exception as fault:
        return f"refused: {type(fault).__name__}"


name = sys.argv[1]
version = importlib.metadata.version(name)
cases = json.load(sys.stdin)
json.dump({"version": version, "answers": [answer(name, case) for case in cases]}, sys.stdout)
