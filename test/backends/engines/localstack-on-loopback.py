"""Starts LocalStack 4.14.0 in two ways unlike `python -m localstack.runtime.main`.

- On the loopback address only. Its server takes the port of GATEWAY_LISTEN but not the host, and listens on every address
  ("TODO: interface = host?" in localstack/runtime/server/twisted.py).
- SIGTERM ends it at once. Its own handler takes seconds to tidy up what is thrown away anyway, and begins by printing: when
  the process that read its output is gone, that fails, and LocalStack runs for ever.
"""

import signal
from functools import partial

from twisted.internet import endpoints

endpoints.TCP4ServerEndpoint = partial(endpoints.TCP4ServerEndpoint, interface="127.0.0.1")
signal.signal = lambda *_: None

from localstack.runtime.main import main  # noqa: E402: what it imports must find the above

main()
